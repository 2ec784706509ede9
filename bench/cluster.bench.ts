import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

// Several servers on one PostgreSQL and one ClickHouse: events per second, how soon they are visible, and questions beside hand-written SQL.

const program = join(process.cwd(), 'bench/cluster/measure.ts')
const { status } = spawnSync(process.execPath, ['--import', 'tsx', program, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
