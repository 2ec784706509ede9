import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { hasClickHouse, howToInstallClickHouse } from './chdb.ts'
import { knownDifferences } from './known-differences.ts'

// npm run test:clickhouse [-- --shards]: the query cases of the conformance suites on ClickHouse, then what is written into it and what a crash leaves of that. `--shards`: all of
// it with the events on two shards.

const env = { ...process.env, ...(process.argv.includes('--shards') && { WAYMARK_TEST_SHARDS: '2' }) }

interface CaseResult {
  readonly file: string
  readonly name: string
  readonly bad: readonly string[]
}

const repository = resolve(import.meta.dirname, '../..')
const runner = resolve(repository, '../shared/conformance/run.mjs')
const seconds = (since: number) => `${Math.round((performance.now() - since) / 1000)} s`

/** Answers whether all is as expected. */
function runQueryCases(): boolean {
  if (!existsSync(runner)) {
    console.log('Query cases: skipped, because the conformance suites are not beside this repository.')
    return true
  }
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'waymark-clickhouse-'))
  const report = join(folder, 'report.json')
  try {
    const { status } = spawnSync(process.execPath, ['--import', 'tsx', runner, '--json', report, '--min', '0'], {
      cwd: join(import.meta.dirname, 'package-under-test'),
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
    })
    if (status !== 0) {
      console.log(`Query cases: the runner ended with ${status}.`)
      return false
    }
    return judge(JSON.parse(readFileSync(report, 'utf8')) as CaseResult[], started)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function judge(results: readonly CaseResult[], started: number): boolean {
  const nameOf = ({ file, name }: CaseResult) => `${file}: ${name}`
  const failed = results.filter(({ bad }) => bad.length > 0)
  const unlisted = failed.filter((result) => !knownDifferences.some(({ cases }) => cases.test(nameOf(result))))
  const gone = knownDifferences.filter(({ cases }) => !failed.some((result) => cases.test(nameOf(result))))
  for (const result of unlisted) console.log(`  ✗ ${nameOf(result)}\n      ${result.bad.slice(0, 3).join('\n      ')}`)
  for (const { cases, reason } of gone) console.log(`  ✗ a known difference is gone: ${cases} (${reason})`)
  for (const { cases, reason } of knownDifferences)
    console.log(`  known difference, ${failed.filter((result) => cases.test(nameOf(result))).length} cases: ${reason}`)
  const passed = results.length - failed.length
  const known = failed.length - unlisted.length
  console.log(`Query cases: ${passed} passed, ${unlisted.length} failed, ${known} known differences, ${seconds(started)}`)
  return unlisted.length === 0 && gone.length === 0
}

if (!hasClickHouse) console.log(`SKIPPED: ClickHouse is not installed. ${howToInstallClickHouse}`)
else {
  const areQueriesRight = runQueryCases()
  const tests = spawnSync('npx', ['vitest', 'run', '--project', 'clickhouse'], { cwd: repository, stdio: 'inherit', env })
  process.exitCode = areQueriesRight && tests.status === 0 ? 0 : 1
}
