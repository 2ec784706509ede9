import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { chromiumPath, howToInstall } from './browser.ts'

// Real client libraries against the built command. The same tests run by default against the sources.

const root = join(import.meta.dirname, '../..')
const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1

if (chromiumPath === null) console.log(`No browser was found, so posthog-js is not tested. ${howToInstall}`)
process.exitCode =
  run('npm', ['run', 'build', '--silent']) ||
  run('npx', ['vitest', 'run', 'test/clients'], { WAYMARK_CLI: join(root, 'dist/cli.js') }) ||
  (chromiumPath === null ? 3 : 0)
