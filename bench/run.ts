import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commitOf, repositoryRoot } from './compare/checkout.ts'
import { compareRevisions } from './compare/compare-revisions.ts'
import { bundled } from './measure.ts'

// npm run bench -- [--only NAME] [--events N] [--runs N] [-- what else a bench understands]
// npm run bench -- REVISION [--events N] [--runs N]
// Every other file of this folder that ends in .bench.ts asks one question and prints lines of JSON. It is built first, as the package is.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, events: { type: 'string' }, runs: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
})
const files = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .sort()
const names = files.map((file) => file.replace('.bench.ts', ''))
if (values.help) {
  console.log(
    `npm run bench -- [--only NAME] [--events N] [--runs N] [-- what else a bench understands]\n\nNAME is one of: ${names.join(', ')}. Without it all run.\n\nnpm run bench -- REVISION [--events N] [--runs N]\n\nCompares the working tree with a revision, question by question.`,
  )
  process.exit()
}
const [revision] = positionals
if (revision && !revision.startsWith('-')) {
  const root = repositoryRoot()
  const commit = commitOf(root, revision)
  if (commit === null) {
    console.error(`There is no revision ${revision}. Give a commit, a branch or a tag; --only NAME runs one bench.`)
    process.exit(2)
  }
  const slower = await compareRevisions({ root, commit, events: Number(values.events ?? 50_000), runs: Number(values.runs ?? 9) })
  process.exit(slower.length > 0 ? 1 : 0)
}
const chosen = files.filter((file) => !values.only || file === `${values.only}.bench.ts`)
if (chosen.length === 0) {
  console.error(`There is no bench ${values.only}. There are: ${names.join(', ')}.`)
  process.exit(2)
}
const passed = (['events', 'runs'] as const).flatMap((name) => (values[name] ? [`--${name}`, values[name]] : []))
// Some of them run the command line as it would be published: from these sources, not from whenever it was built last.
const build = spawnSync('npx', ['tsup', '--no-dts', '--silent'], {
  cwd: join(import.meta.dirname, '..'),
  stdio: ['ignore', 'ignore', 'inherit'],
})
if (build.status !== 0) process.exit(1)
let failed = 0
for (const file of chosen) {
  const { status } = spawnSync(process.execPath, [await bundled(join(import.meta.dirname, file)), ...passed, ...positionals], {
    stdio: 'inherit',
  })
  if (status !== 0) failed++
}
process.exitCode = failed > 0 ? 1 : 0
