import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

// `npm start`: serves from this checkout. Builds the command and the web interface, and only when a source is newer than what was built; a folder is as new as the last
// file that came or went.

const command = resolve('dist/cli.js')
const built = [command, resolve('dist/web/index.html'), resolve('dist/client/waymark.js')]
const sources = ['package.json', 'package-lock.json', 'build/cli.mjs', 'build/client.mjs', 'build/web.mjs', 'src']
const newest = (path) => {
  const own = statSync(path)
  return own.isDirectory() ? Math.max(own.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name)))) : own.mtimeMs
}
const changed = Math.max(...sources.map(newest))
if (built.some((file) => !existsSync(file) || statSync(file).mtimeMs < changed)) {
  const [{ buildCli }, { buildClient }, { buildWeb }] = await Promise.all([import('./cli.mjs'), import('./client.mjs'), import('./web.mjs')])
  await Promise.all([buildCli(), buildClient(), buildWeb()])
}
process.argv = [process.argv[0], command, 'serve', '--demo', ...process.argv.slice(2)]
await import(command)
