import { spawnSync } from 'node:child_process'
import { buildCli } from './cli.mjs'
import { buildClient } from './client.mjs'
import { buildWeb } from './web.mjs'

// `npm run build`: the library in both module systems with its types, and the programs beside it: the command, the engine's process, the threads, the web interface, and the scripts for other sites.
// With --no-dts without the types, which take longest.

/** For a package: without the parts of the build before, which a server that runs may still load. */
const isAlone = process.argv.includes('--alone')
const { status } = spawnSync('tsup', process.argv.slice(2).filter((one) => one !== '--alone'), { stdio: 'inherit', shell: true })
if (status === 0) {
  await buildCli({ isAlone })
  await buildWeb()
  await buildClient()
}
process.exitCode = status ?? 1
