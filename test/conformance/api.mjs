#!/usr/bin/env node
// Runs conversations with the HTTP API, capture requests and ingestion cases against the built server (`npm run build` first).
//   node test/conformance/api.mjs [--cases DIR] [--only TEXT] [--verbose] [--min PERCENT] [--all]
// Exit 0 when at least --min percent of the cases that are run hold (default 100).
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { capture } from './kinds/capture.mjs'
import { http } from './kinds/http.mjs'
import { ingestion } from './kinds/ingestion.mjs'
import { plugins } from './kinds/plugins.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const { values: options } = parseArgs({
  options: {
    cases: { type: 'string', default: path.resolve(here, '../../../shared/conformance/api') },
    only: { type: 'string', default: '' },
    min: { type: 'string', default: '100' },
    verbose: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
})

/** Each kind says which cases are its own and runs one: `run(case, suite)` answers `{ problems, unseen }`, or throws a Skip. */
const kinds = [http, capture, ingestion, plugins]

/** Cases of the side that lost where the versions of the reference disagree. */
const losing = new Map([
  ['version-2025', 'of the later version'],
  ['version-2024-python', 'of the older reader of captures'],
  ['conflicts-with-seed', 'the requirements say otherwise'],
])
const losingTag = (test) => (test.tags ?? []).find((tag) => losing.has(tag))

const files = fs
  .readdirSync(options.cases)
  .filter((name) => name.endsWith('.json'))
  .sort()
const counts = { passed: 0, failed: 0, skipped: 0 }
const unseen = new Map()

for (const file of files) {
  const suite = JSON.parse(fs.readFileSync(path.join(options.cases, file), 'utf8'))
  for (const test of suite.cases) {
    const name = `${file.replace('.json', '')}: ${test.name}`
    if (!name.toLowerCase().includes(options.only.toLowerCase())) continue
    const skip = (why) => {
      counts.skipped++
      console.log(`skip  ${name} (${why})`)
    }
    const tag = losingTag(test)
    const kind = kinds.find((one) => one.takes(test, file))
    if (tag && !options.all) skip(losing.get(tag))
    else if (!kind) skip('no runner for this kind of case yet')
    else {
      try {
        const result = await kind.run(test, suite)
        for (const what of result.unseen ?? []) unseen.set(what, (unseen.get(what) ?? 0) + 1)
        if (result.problems.length === 0) {
          counts.passed++
          if (options.verbose) console.log(`ok    ${name}`)
        } else {
          counts.failed++
          console.log(`FAIL  ${name}`)
          for (const problem of result.problems) console.log(`        ${problem}`)
        }
      } catch (error) {
        if (error?.isSkip) skip(error.message)
        else {
          counts.failed++
          console.log(`FAIL  ${name}\n        ${error?.stack ?? error}`)
        }
      }
    }
  }
}

for (const [what, count] of unseen) console.log(`not looked at: ${what} (${count})`)
const run = counts.passed + counts.failed
const share = run === 0 ? 100 : (100 * counts.passed) / run
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${share.toFixed(1)} % of those run`)
process.exitCode = share + 1e-9 >= Number(options.min) ? 0 : 1
