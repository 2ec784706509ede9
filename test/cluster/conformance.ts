import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Counts } from './checks.ts'

// The query cases of the conformance suites, sent to one of two servers and asked of the other.

const runner = resolve(import.meta.dirname, '../../../shared/conformance/run.mjs')

export function conformanceCases(counts: Counts): void {
  if (!existsSync(runner)) {
    console.log('  query cases: skipped, because the conformance suites are not beside this repository')
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'waymark-conformance-'))
  const report = join(folder, 'report.json')
  try {
    const { status } = spawnSync(process.execPath, ['--import', 'tsx', runner, '--json', report, '--min', '0'], {
      cwd: join(import.meta.dirname, 'package-under-test'),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error(`The runner of the query cases ended with ${status}`)
    const results = JSON.parse(readFileSync(report, 'utf8')) as {
      readonly file: string
      readonly name: string
      readonly bad: readonly string[]
    }[]
    const failed = results.filter(({ bad }) => bad.length > 0)
    for (const { file, name, bad } of failed) console.log(`  ✗ ${file}: ${name}\n      ${bad.slice(0, 3).join('\n      ')}`)
    counts.failed += failed.length
    counts.passed += results.length - failed.length
    console.log(`  query cases: ${results.length - failed.length} passed, ${failed.length} failed`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
