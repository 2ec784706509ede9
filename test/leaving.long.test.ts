import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest'
import { openStoreInspector } from '../src/engine/storage/duckdb/inspect-store.ts'
import { type LocalWaymark, open } from '../src/engine.ts'
import { program } from './harness/programs.ts'

// Programs that end without `close()`: they end when they have nothing more to do, and what was acknowledged is there afterwards.

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-leaving-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const run = async (rest: string, isolate = false) => {
  const text = `
    import { open } from '${pathToFileURL(program('engine'))}'
    const waymark = await open({ dataDir: process.argv[1], minFreeBytes: 0, isolate: ${isolate} })
    const project = await waymark.createProject()
    const batch = (count) => Array.from({ length: count }, (_, i) => ({ event: 'seen', distinct_id: 'u' + (i % 9), properties: { i } }))
    const counted = async () => (await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })).results[0][0]
    await project.ingest({ batch: batch(500) })
    ${rest}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)))
  const [code, signal] = await once(child, 'close')
  return { code, signal, said: said.join('') }
}
const inStore = async () => {
  const inspector = await openStoreInspector(dataDir)
  const found = await inspector.inspect(join(dataDir, 'projects', '1', 'store.duckdb'))
  await inspector.close()
  return 'events' in found ? found.events : found.state
}
const found = async () => {
  await using waymark = await open({ dataDir, minFreeBytes: 0 })
  const project = await waymark.project(1)
  expect(project.recoveryReports()).toEqual([])
  return (await project.query<[number]>({ kind: 'SqlLikeQuery', query: 'select count() from events' })).results[0]![0]
}

// A transaction waits five seconds for more events: nothing of it in the store shows that nobody waited for it.
test.each([
  ['comes to its end', '', { code: 0 }],
  ['exits', 'process.exit(3)', { code: 3 }],
  ['throws', "throw new Error('on purpose')", { code: 1, said: expect.stringContaining('on purpose') }],
])('a program that %s leaves at once, and the next one finds everything', async (_, rest, expected) => {
  expect(await run(rest)).toMatchObject({ signal: null, ...expected })
  expect(await inStore()).toBe(0)
  expect(await found()).toBe(500)
})

test.each([
  ['comes to its end', '', { code: 0 }],
  ['has asked and comes to its end', 'console.log(await counted())', { code: 0, said: '500\n' }],
  ['exits', 'process.exit(3)', { code: 3 }],
  ['throws', "throw new Error('on purpose')", { code: 1, said: expect.stringContaining('on purpose') }],
])('a program with an engine of its own that %s leaves at once, and the next one finds everything', async (_, rest, expected) => {
  expect(await run(rest, true)).toMatchObject({ signal: null, ...expected })
  expect(await found()).toBe(500)
})

test.each([false, true])('what a program waits for keeps it alive (with an engine of its own: %s)', async (isolate) => {
  const rest = `
    console.log(await counted())
    const { ids } = await project.importPersons([{ distinct_ids: ['new'] }])
    await Promise.all(Array.from({ length: 20 }, () => project.ingest({ batch: batch(100), historical_migration: true })))
    console.log(ids.length, await counted())
    await waymark.close()
    console.log('closed')`
  expect(await run(rest, isolate)).toEqual({ code: 0, signal: null, said: '500\n1 2500\nclosed\n' })
})

test('`await using` closes', async () => {
  expectTypeOf<LocalWaymark>().toExtend<AsyncDisposable>()
  let left: LocalWaymark
  {
    await using waymark = await open({ dataDir })
    left = waymark
    await waymark.createProject()
  }
  await expect(left.createProject()).rejects.toMatchObject({ code: 'closed' })
  await (await open({ dataDir })).close()
})
