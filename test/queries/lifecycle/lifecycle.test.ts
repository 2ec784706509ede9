import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

// Days 1 to 5 of March; persons are named by what they do.

let waymark: LocalWaymark
let project: LocalProject
const active: Readonly<Record<string, { readonly created: string; readonly days: readonly number[] }>> = {
  fresh: { created: '2026-03-02', days: [2, 3] }, // new on 2, returning on 3, dormant on 4
  loyal: { created: '2026-01-01', days: [-1, 1, 2, 3, 4, 5] }, // the day before the range was missed: resurrecting on 1
  steady: { created: '2026-01-01', days: [0, 1] }, // active the day before the range: returning on 1, dormant on 2
  back: { created: '2026-01-01', days: [5] },
}

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-20T00:00:00Z') })
  project = await waymark.createProject({ name: 'lifecycle', timezone: 'America/New_York' })
  const rows = Object.entries(active).map(([id, { created }]) => ({
    distinct_ids: [id],
    properties: {},
    created_at: `${created}T15:00:00Z`,
  }))
  await project.importPersons(rows)
  const noon = (day: number) => new Date(Date.UTC(2026, 2, day, 17)).toISOString()
  const events = Object.entries(active).flatMap(([id, { days }]) =>
    days.map((day) => ({ event: 'visit', distinct_id: id, timestamp: noon(day) })),
  )
  const anonymous = { event: 'visit', distinct_id: 'anonymous', timestamp: noon(3), properties: { $process_person_profile: false } }
  await project.ingest({ batch: [...events, { event: 'other', distinct_id: 'back', timestamp: noon(4) }, anonymous] })
})
afterAll(() => waymark.close())

const query = {
  kind: 'LifecycleQuery',
  series: [{ kind: 'EventsNode', event: 'visit' }],
  dateRange: { date_from: '2026-03-01', date_to: '2026-03-05' },
}

test('each person has one status a day', async () => {
  const { results } = (await project.answer(query)) as {
    results: { status: string; data: number[]; count: number; days: string[]; label: string }[]
  }
  expect(results.map(({ status, data, count }) => [status, data, count])).toEqual([
    ['new', [0, 1, 0, 0, 0], 1],
    ['returning', [1, 1, 2, 1, 1], 6],
    ['resurrecting', [1, 0, 0, 0, 1], 2],
    ['dormant', [0, -1, 0, -1, 0], -2],
  ])
  expect(results[0]).toMatchObject({ label: 'visit - new', days: ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05'] })
})

test('the first and the last bucket are whole', async () => {
  // The week starts on Sunday the 1st: an event of the 5th counts, although the range ends on the 2nd.
  const week = { ...query, interval: 'week', dateRange: { date_from: '2026-03-01', date_to: '2026-03-02' } }
  const { results } = (await project.answer(week)) as { results: { status: string; data: number[] }[] }
  expect(results.map(({ status, data }) => [status, data])).toEqual([
    ['new', [1]],
    ['returning', [2]],
    ['resurrecting', [1]],
    ['dormant', [0]],
  ])
})

test('rows can be chosen', async () => {
  const { results } = (await project.answer({ ...query, lifecycleFilter: { toggledLifecycles: ['dormant', 'new'] } })) as {
    results: { status: string }[]
  }
  expect(results.map(({ status }) => status)).toEqual(['new', 'dormant'])
})

test('the statuses to choose from stand in the order of their names', async () => {
  const options = { kind: 'InsightActorsQueryOptions', source: { kind: 'InsightActorsQuery', source: query } }
  const { status } = (await project.answer(options)) as { status: { value: string }[] }
  expect(status.map(({ value }) => value)).toEqual(['dormant', 'new', 'resurrecting', 'returning'])
})

test('there are as many people behind a point as it says', async () => {
  const { results } = (await project.answer(query)) as { results: { status: string; data: number[]; days: string[] }[] }
  for (const { status, data, days } of results)
    for (const [i, count] of data.entries()) {
      const source = { kind: 'InsightActorsQuery', source: query, status, day: days[i] }
      const people = (await project.answer({ kind: 'ActorsQuery', source, select: ['person'] })) as { results: unknown[] }
      expect(people.results, `${status} on ${days[i]}`).toHaveLength(Math.abs(count))
    }
})

test.each([
  ['two series', { ...query, series: [...query.series, ...query.series] }, 'series'],
  ['an unknown status', { ...query, lifecycleFilter: { toggledLifecycles: ['bored'] } }, 'lifecycleFilter__toggledLifecycles__0'],
  ['an unknown interval', { ...query, interval: 'moon' }, 'interval'],
])('%s is refused by name', async (_, wrong, attr) => {
  await expect(project.answer(wrong)).rejects.toMatchObject({ code: 'validation-failed', attr })
})
