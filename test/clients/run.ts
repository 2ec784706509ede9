import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { missing } from './browser.ts'

// Real client libraries against the built command. The same tests run by default against the sources.

const root = join(import.meta.dirname, '../..')
const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1

if (missing !== null) console.log(`posthog-js is not tested. ${missing}`)
process.exitCode =
  run('npm', ['run', 'build', '--silent']) ||
  run('npx', ['vitest', 'run', 'test/clients'], { WAYMARK_CLI: join(root, 'dist/cli.js') }) ||
  (missing === null ? 0 : 3)
