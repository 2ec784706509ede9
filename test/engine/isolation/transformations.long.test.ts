import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type * as engine from '../../../src/engine.ts'
import type { LocalWaymark, OpenOptions } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { runPlugin } from '../../harness/plugin-rows.ts'
import { program } from '../../harness/programs.ts'

// Plugins belong to the process with the accounts; the engine in another process asks it before it applies events.

let open: typeof engine.open
beforeAll(async () => {
  open = ((await import(pathToFileURL(program('engine')).href)) as typeof engine).open
})

const opened: LocalWaymark[] = []
const folders: string[] = []
const start = async (options: Partial<OpenOptions> = {}): Promise<LocalWaymark> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-transformations-'))
  folders.push(dataDir)
  const waymark = await open({ dataDir, threads: 2, memoryLimit: '256MB', minFreeBytes: 0, onError: () => {}, ...options })
  opened.push(waymark)
  return waymark
}
afterEach(async () => {
  for (const waymark of opened.splice(0)) await waymark.close()
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true })
})

const killEngine = (waymark: LocalWaymark) =>
  process.kill((waymark as unknown as { parts: { backends: { engine: { pid: number } } } }).parts.backends.engine.pid, 'SIGKILL')
const sql = (query: string) => ({ kind: 'SqlLikeQuery', query }) as const
const rows = async (project: LocalProject, query: string) => (await project.query(sql(query), { refresh: 'force_blocking' })).results

const counts = `
export async function setupPlugin({ utils }) { await utils.cursor.init('calls', 0) }
export async function processEvent(event, { global, utils }) {
  if (event.properties.drop) return null
  event.properties.turn = global.turn = (global.turn ?? 0) + 1
  event.properties.call = await utils.cursor.increment('calls')
  return event
}`
const batch = (from: number, count: number, more: object = {}) => ({
  batch: Array.from({ length: count }, (_, i) => ({
    event: 'view',
    distinct_id: `u${(from + i) % 7}`,
    uuid: `00000000-0000-4000-8000-${String(from + i).padStart(12, '0')}`,
    timestamp: '2026-01-02T03:04:05Z',
    properties: { n: from + i, $set: { plan: 'pro' }, ...more },
  })),
})

describe.each([
  ['two processes', true],
  ['one process', false],
])('%s', (_, isolate) => {
  test('events are transformed once, in order; dropped ones are gone, and duplicates are not transformed', async () => {
    const waymark = await start({ isolate })
    const project = await waymark.createProject()
    await project.ingest(batch(0, 10))
    expect(await rows(project, 'select count() from events')).toEqual([[10]])
    await runPlugin(waymark, project.id, counts)
    await Promise.all([project.ingest(batch(10, 300)), project.ingest(batch(310, 1)), project.ingest(batch(311, 689))])
    await project.ingest(batch(1000, 5, { drop: true }))
    await project.ingest(batch(500, 20)) // duplicates
    await project.ingest(batch(1005, 1))
    expect(
      await rows(
        project,
        'select count(), count(properties.call), count(distinct properties.call), max(toInt(properties.call)) from events',
      ),
    ).toEqual([[1001, 991, 991, 991]])
    expect(
      await rows(
        project,
        'select distinct toInt(properties.turn) - toInt(properties.n) from events where toInt(properties.n) between 10 and 999',
      ),
    ).toEqual([[-9]])
    expect(await rows(project, 'select properties.plan from persons limit 1')).toEqual([['pro']])
  })

  test('two projects never see one another', async () => {
    const waymark = await start({ isolate })
    const [one, two, plain] = [await waymark.createProject(), await waymark.createProject(), await waymark.createProject()]
    const named = (name: string) =>
      `export function processEvent(event, { global }) { global.seen = (global.seen ?? 0) + 1; event.properties.mark = '${name} ' + event.team_id + ' ' + global.seen; return event }`
    await runPlugin(waymark, one.id, named('one'))
    await runPlugin(waymark, two.id, named('two'))
    await Promise.all([one, two, plain].map((project) => project.ingest(batch(0, 1))))
    const marks = await Promise.all([one, two, plain].map((project) => rows(project, 'select properties.mark from events')))
    expect(marks).toEqual([[[`one ${one.id} 1`]], [[`two ${two.id} 1`]], [[null]]])
  })
})

test('an engine that ends does not cause a second transformation while the other process lives', async () => {
  const waymark = await start({ isolate: true })
  const project = await waymark.createProject()
  await runPlugin(waymark, project.id, counts)
  await project.ingest(batch(0, 10))
  for (let round = 1; round <= 6; round++) {
    for (let i = 0; i < 10; i++) await project.ingest(batch(round * 1000 + i * 100, 100))
    killEngine(waymark)
  }
  expect(await rows(project, 'select count(), count(distinct properties.call), max(toInt(properties.call)) from events')).toEqual([
    [6010, 6010, 6010],
  ])
})
