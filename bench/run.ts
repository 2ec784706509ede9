import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPackage } from './build-package.ts'
import { commitOf, repositoryRoot } from './compare/checkout.ts'
import { compareRevisions } from './compare/compare-revisions.ts'
import { keepLines } from './figures/kept-lines.ts'
import { bundled } from './measure.ts'
import { ownQuestions } from './own/own-questions.ts'
import { product } from './product/product.ts'

// npm run bench -- [--only NAME] [--events N] [--runs N] [--keep] [-- what else a bench understands]
// npm run bench -- REVISION [--events N] [--runs N] [--slow-down FACTOR]
// npm run bench -- product [--events MILLIONS] …
// npm run bench -- [REVISION] --data COPY --questions FILE [--project ID] [--runs N]
// Every other file of this folder that ends in .bench.ts asks one question and prints lines of JSON. It is built first, as the package is.

const [first, ...rest] = process.argv.slice(2)
if (first === 'product') process.exit(await product(rest))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    events: { type: 'string' },
    runs: { type: 'string' },
    keep: { type: 'boolean' },
    'slow-down': { type: 'string' },
    data: { type: 'string' },
    questions: { type: 'string' },
    project: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
const files = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .sort()
const names = files.map((file) => file.replace('.bench.ts', ''))
if (values.help) {
  console.log(
    `npm run bench -- [--only NAME] [--events N] [--runs N] [--keep] [-- what else a bench understands]\n\nNAME is one of: ${names.join(', ')}. Without it all run. --keep writes the lines to bench/figures/lines.jsonl, which README.md is made of (npm run docs).\n\nnpm run bench -- REVISION [--events N] [--runs N] [--slow-down FACTOR]\n\nCompares the working tree with a revision, question by question. --slow-down makes the working tree slower, to see that it is found.\n\nnpm run bench -- product [--help]\n\nCompares Waymark with ClickHouse and DuckDB on the same events.\n\nnpm run bench -- [REVISION] --data DIR --questions FILE [--project ID] [--runs N]\n\nTimes your own questions on a copy of your own directory, and compares them with a revision.`,
  )
  process.exit()
}
const [revision] = positionals
if (values.data !== undefined || values.questions !== undefined) {
  if (values.data === undefined || values.questions === undefined) {
    console.error('Give both: --data DIR, a directory that nobody has open, and --questions FILE.')
    process.exit(2)
  }
  const root = repositoryRoot()
  const commit = revision === undefined ? null : commitOf(root, revision)
  if (revision !== undefined && commit === null) {
    console.error(`There is no revision ${revision}. Give a commit, a branch or a tag.`)
    process.exit(2)
  }
  const { data, questions, project } = values
  try {
    process.exit((await ownQuestions({ root, data, questions, project, runs: Number(values.runs ?? 5), commit })) ? 0 : 1)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
if (revision && !revision.startsWith('-')) {
  const root = repositoryRoot()
  const commit = commitOf(root, revision)
  if (commit === null) {
    console.error(`There is no revision ${revision}. Give a commit, a branch or a tag; --only NAME runs one bench.`)
    process.exit(2)
  }
  const slower = await compareRevisions({
    root,
    commit,
    events: Number(values.events ?? 1_000_000),
    runs: Number(values.runs ?? 9),
    slowDown: Number(values['slow-down'] ?? 1),
  })
  process.exit(slower.length > 0 ? 1 : 0)
}
const chosen = files.filter((file) => !values.only || file === `${values.only}.bench.ts`)
if (chosen.length === 0) {
  console.error(`There is no bench ${values.only}. There are: ${names.join(', ')}.`)
  process.exit(2)
}
const passed = (['events', 'runs'] as const).flatMap((name) => (values[name] ? [`--${name}`, values[name]] : []))
buildPackage()
let failed = 0
for (const file of chosen) {
  const args = [...passed, ...positionals]
  const { status, stdout } = spawnSync(process.execPath, [await bundled(join(import.meta.dirname, file)), ...args], {
    stdio: ['inherit', values.keep ? 'pipe' : 'inherit', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (values.keep) {
    process.stdout.write(stdout)
    if (status === 0)
      keepLines(
        stdout,
        ['npm run bench -- --only', file.replace('.bench.ts', ''), ...passed, ...(positionals.length ? ['--', ...positionals] : [])].join(
          ' ',
        ),
      )
  }
  if (status !== 0) failed++
}
process.exitCode = failed > 0 ? 1 : 0
