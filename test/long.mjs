// npm run test:long [-- --fresh] [FILE …]: the tests that take long. With --fresh, what is drawn at random is drawn anew: what it finds says how it is saved.
// A run of all of them that passes is noted in docs/testing.md.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const given = process.argv.slice(2)
const isFresh = given.includes('--fresh')
const rest = given.filter((arg) => arg !== '--fresh')
const env = { ...process.env, ...(isFresh ? { WAYMARK_SEED: String(randomInt(2 ** 31)) } : {}) }
if (isFresh) console.log(`WAYMARK_SEED=${env.WAYMARK_SEED}`)

const begun = performance.now()
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'long', ...rest], {
  cwd: root,
  stdio: 'inherit',
  env,
})
const isWhole = rest.every((arg) => arg.startsWith('--reporter') || arg.startsWith('--outputFile'))
if (status === 0 && isWhole) {
  const file = join(root, 'docs/testing.md')
  const minutes = Math.round((performance.now() - begun) / 60_000)
  const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  const note = `Passed whole last: ${new Date().toISOString().slice(0, 10)}, at ${revision}, in ${minutes} minutes.`
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^Passed whole last: .*$/m, note))
}
process.exitCode = status ?? 1
