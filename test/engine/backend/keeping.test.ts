import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keptFromAt } from '../../../src/engine/backend/keeping.ts'
import type { LocalWaymark } from '../../../src/engine.ts'
import { restore } from '../../../src/index.ts'
import {
  contentsOf,
  drawEvents,
  errors,
  idOf,
  isKept,
  keep,
  months,
  mustBeThere,
  now,
  openWith,
  personIds,
  retention,
  secretName,
  send,
  sendWithSecrets,
  timezone,
} from './keeping-cases.ts'

const seeds = process.env.WAYMARK_SEED ? [Number(process.env.WAYMARK_SEED)] : [1, 2]
const month = (text: string) => Date.parse(text) * 1000

test.each([
  ['a year', 12, 'UTC', '2026-11-27T13:00:00Z', '2025-11-27T00:00:00Z'],
  ['the last day of a short month', 1, 'UTC', '2026-03-31T10:00:00Z', '2026-02-28T00:00:00Z'],
  ['of a leap year', 1, 'UTC', '2024-03-31T10:00:00Z', '2024-02-29T00:00:00Z'],
  ['the day of the project, not of UTC', 3, 'Europe/Berlin', '2026-03-31T22:30:00Z', '2025-12-31T23:00:00Z'],
  ['a midnight that does not exist', 1, 'America/Santiago', '2026-10-06T12:00:00Z', '2026-09-06T04:00:00Z'],
])('the boundary: %s', (_, count, zone, at, expected) => {
  const kept = keptFromAt({ events: count, names: { a: count, b: null } }, zone, month(at))
  expect(kept).toEqual({ all: month(expected), names: { a: month(expected), b: null } })
})

let folder: string
let opened: LocalWaymark[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-keeping-'))
  opened = []
})
afterEach(async () => {
  for (const waymark of opened) await waymark.close()
  expect(errors.splice(0)).toEqual([])
  await rm(folder, { recursive: true, force: true })
})
const opening = async (...args: Parameters<typeof openWith>): Promise<LocalWaymark> => {
  const waymark = await openWith(...args)
  opened.push(waymark)
  return waymark
}
const closing = async (waymark: LocalWaymark) => {
  opened.splice(opened.indexOf(waymark), 1)
  await waymark.close()
}

test.each(seeds)('old events are gone at once, after a restart, after a restore, and at the next midnight (seed %s)', async (seed) => {
  const clock = { now: 0 }
  const dataDir = join(folder, 'data')
  const place = join(folder, 'place')
  const events = drawEvents(seed)
  const first = await opening(clock, undefined, dataDir)
  const project = await first.createProject({ timezone })
  await send(project, events, clock)
  clock.now = now
  await mustBeThere(project, events)
  await first.backup(place)

  await keep(first, project, retention)
  const kept = events.filter(isKept)
  expect(kept.length).toBeLessThan(events.length)
  await mustBeThere(project, kept)

  // What comes too late is said, and not stored; its change of the person is.
  const late = {
    event: 'viewed',
    distinct_id: idOf(0),
    timestamp: new Date(months[12] - 1).toISOString(),
    properties: { $set: { late: 1 } },
  }
  await project.ingest({
    batch: [late, { ...late, event: 'ping', uuid: '018f0000-0000-7000-8000-00000000ffff' }],
    historical_migration: true,
  })
  const withLate = [...kept, { uuid: '018f0000-0000-7000-8000-00000000ffff', event: 'ping', at: months[12] - 1, person: 0 }]
  await mustBeThere(project, withLate)
  expect((await project.warnings()).map(({ type, count }) => [type, count])).toEqual([['event_before_retention', 1]])
  await closing(first)

  const again = await opening(clock, undefined, dataDir)
  await mustBeThere(await again.project(project.id), withLate)
  await closing(again)

  // The copy is from before; its project learns the setting there.
  await restore(place, join(folder, 'restored'))
  const restored = await opening(clock, undefined, join(folder, 'restored'))
  await mustBeThere(await restored.project(project.id), events)
  await keep(restored, project, retention)
  await mustBeThere(await restored.project(project.id), kept)
  await restored.backup(join(folder, 'second'))
  await closing(restored)

  // A copy from today, restored after the next midnights.
  await restore(join(folder, 'second'), join(folder, 'later'))
  clock.now = now + 40 * 86_400_000
  const later = await opening(clock, undefined, join(folder, 'later'))
  const [viewed, bought] = [Date.UTC(2025, 4, 10, 22), Date.UTC(2026, 1, 10, 23)]
  await mustBeThere(
    await later.project(project.id),
    kept.filter(({ event, at }) => event === 'ping' || at >= (event === 'bought' ? bought : viewed)),
  )
})

test('persons without events go when nothing about them is newer, and with them their ids', async () => {
  const clock = { now: 0 }
  const events = drawEvents(3)
  const waymark = await opening(clock)
  const project = await waymark.createProject({ timezone })
  await send(project, events, clock)
  clock.now = now
  await keep(waymark, project, retention)
  const counts = await project.removeOld()
  const active = (person: number) => events.some((one) => one.person === person && (isKept(one) || one.at >= months[18]))
  const persons = [...new Set(events.map(({ person }) => person))]
  expect(await personIds(project)).toEqual(persons.filter(active).map(idOf).sort())
  expect(counts).toEqual({
    events: events.filter((one) => !isKept(one)).length,
    persons: persons.filter((one) => !active(one)).length,
    groups: 0,
  })
  expect(await project.removeOld()).toEqual({ events: 0, persons: 0, groups: 0 })
  // One who comes back is a new person.
  const back = persons.find((one) => !active(one))!
  await project.ingest({ batch: [{ event: 'ping', distinct_id: idOf(back), properties: { $set: { again: 1 } } }] })
  const { results } = await project.query<[string]>({
    kind: 'SqlLikeQuery',
    query: `select toString(p.properties) from persons p where id in (select person_id from person_distinct_ids where distinct_id = '${idOf(back)}')`,
  })
  expect(results.map(([text]) => JSON.parse(text))).toEqual([{ again: 1, $creator_event_uuid: expect.any(String) }])
})

test('a project that nobody asks loses what is too old after the start, with a receipt', async () => {
  const clock = { now: 0 }
  const dataDir = join(folder, 'data')
  const events = drawEvents(5, 80)
  const first = await opening(clock, undefined, dataDir)
  const { id } = await first.createProject({ timezone })
  await send(await first.project(id), events, clock)
  clock.now = now
  await keep(first, await first.project(id), retention)
  await closing(first)
  const { accounts } = await opening(clock, undefined, dataDir, true)
  const receipts = async () => (await accounts.deletions.page((await accounts.projects.byId(id))!, { limit: 10, offset: 0 })).results
  await expect.poll(receipts).toMatchObject([{ asked_by: 'retention', events: events.filter((one) => !isKept(one)).length }])
  // Receipts are read from the file, rows of due work from the memory, a moment after the commit.
  const run = { ran_at: new Date(now), failures: 0, due_at: new Date(Date.UTC(2026, 3, 1, 22) + (id % 10) * 60_000) }
  await expect.poll(() => accounts.context.store.read.retention_runs.find({})).toMatchObject([run])
})

test('a cached answer does not outlive the midnight', async () => {
  const clock = { now }
  const waymark = await opening(clock)
  const project = await waymark.createProject({ timezone })
  await keep(waymark, project, { events_months: 1 })
  await project.ingest({ batch: [{ event: 'viewed', distinct_id: 'u', timestamp: '2026-03-01T12:00:00Z' }] })
  const count = async () => {
    const query = {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'viewed' }],
      dateRange: { date_from: '2026-02-27', date_to: '2026-03-05' },
    } as const
    const { results, is_cached } = (await project.query(query)) as unknown as { results: { count: number }[]; is_cached: boolean }
    return [results[0]!.count, is_cached]
  }
  await count() // moves the boundary
  expect([await count(), await count()]).toEqual([
    [1, false],
    [1, true],
  ])
  clock.now = Date.UTC(2026, 3, 1, 21, 59)
  expect(await count()).toEqual([1, true])
  clock.now = Date.UTC(2026, 3, 1, 22, 1)
  expect(await count()).toEqual([0, false])
})

test('a longer time, and none, are obeyed from then on', async () => {
  const clock = { now: 0 }
  const events = drawEvents(4, 60)
  const waymark = await opening(clock)
  const project = await waymark.createProject({ timezone })
  await send(project, events, clock)
  clock.now = now
  await keep(waymark, project, { events_months: 12 })
  const kept = events.filter(({ at }) => at >= months[12])
  await mustBeThere(project, kept)
  await keep(waymark, project, null)
  await mustBeThere(project, kept)
  const old = { uuid: '018f0000-0000-7000-8000-00000000eeee', event: 'ping', at: Date.UTC(2024, 0, 1), person: 1 }
  await send(project, [old], clock)
  await mustBeThere(project, [...kept, old])
})

test.each(seeds)('a removed property leaves what there would be if it had never come (seed %s)', async (seed) => {
  const clock = { now }
  const dataDir = join(folder, 'data')
  const waymark = await opening(clock, undefined, dataDir)
  const project = await waymark.createProject({ timezone })
  const never = await (await opening(clock)).createProject({ timezone })
  await sendWithSecrets(project, seed, true)
  await sendWithSecrets(never, seed, false)
  for (const scope of ['event', 'person', 'group_0'] as const) {
    const counts = await project.removeProperty(scope, secretName)
    expect(scope === 'group_0' ? counts.groups : scope === 'person' ? counts.persons : counts.events).toBeGreaterThan(0)
    expect(await project.removeProperty(scope, secretName)).toEqual({ events: 0, persons: 0, groups: 0 })
  }
  const expected = await contentsOf(never)
  // Persons of other projects have other uuids.
  const persons = (contents: Record<string, unknown>) =>
    (contents.persons as [string, object][]).map(([, properties]) => JSON.stringify(Object.entries(properties).sort())).sort()
  const alike = (contents: Record<string, unknown>) => ({ ...contents, persons: persons(contents) })
  expect(alike(await contentsOf(project))).toEqual(alike(expected))
  expect((await project.properties()).filter(({ name }) => name === secretName)).toEqual([])
  // Later merges and imports do not bring it back.
  await sendWithSecrets(project, seed + 100, false)
  await sendWithSecrets(never, seed + 100, false)
  expect(JSON.stringify((await contentsOf(project)).persons)).not.toContain('sec/ret')
  await closing(waymark)
  const again = await opening(clock, undefined, dataDir)
  expect(alike(await contentsOf(await again.project(project.id)))).toEqual(alike(await contentsOf(never)))
})
