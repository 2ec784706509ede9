import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Counts } from './checks.ts'
import { type Cluster, engineOf } from './parts.ts'

// The conversations with the HTTP API, each with a server on a PostgreSQL schema and a ClickHouse database of its own.

const repository = resolve(import.meta.dirname, '../..')
const cases = join(repository, '../shared/conformance/api')

export async function conversations(cluster: Cluster, counts: Counts): Promise<void> {
  if (!existsSync(cases)) {
    console.log('  conversations: skipped, because the conformance suites are not beside this repository')
    return
  }
  if (!existsSync(join(repository, 'dist/internal/world.js'))) {
    console.log('  conversations: skipped, because nothing is built: npm run build')
    return
  }
  const child = spawn(process.execPath, ['test/conformance/api.mjs', '--verbose', '--min', '0'], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WAYMARK_TEST_ENGINE: JSON.stringify(engineOf(cluster)) },
  })
  let passed = 0
  const failed: { readonly name: string; readonly problems: string[] }[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith('ok ')) passed++
    else if (line.startsWith('FAIL ')) failed.push({ name: line.slice('FAIL'.length).trim(), problems: [] })
    else if (line.startsWith('        ')) failed.at(-1)?.problems.push(line.trim())
  }
  for (const { name, problems } of failed) console.log(`  ✗ ${name}\n      ${problems.slice(0, 3).join('\n      ')}`)
  counts.passed += passed
  counts.failed += failed.length + (passed === 0 ? 1 : 0)
  console.log(`  conversations: ${passed} passed, ${failed.length} failed`)
}
