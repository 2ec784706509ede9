import { spawnSync } from 'node:child_process'
import { buildCli } from './cli.mjs'

// `npm run build`: the library in both module systems with its types, and the command.

const { status } = spawnSync('tsup', { stdio: 'inherit', shell: true })
if (status === 0) await buildCli()
process.exitCode = status ?? 1
