import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

// `npm start`: serves from this checkout. Builds the command alone, and only when a source is newer than what was built; a folder is as new as the last
// file that came or went.

const command = resolve('dist/cli.js')
const sources = ['package.json', 'package-lock.json', 'build/cli.mjs', 'src']
const newest = (path) => {
  const own = statSync(path)
  return own.isDirectory() ? Math.max(own.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name)))) : own.mtimeMs
}
if (!existsSync(command) || statSync(command).mtimeMs < Math.max(...sources.map(newest))) {
  const { buildCli } = await import('./cli.mjs')
  await buildCli()
}
process.argv = [process.argv[0], command, 'serve', '--demo', ...process.argv.slice(2)]
await import(command)
