import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { WaymarkError } from '../../../src/errors/errors.ts'
import type { LocalProject } from '../../../src/project.ts'

// Lists of groups and of sessions, a timeline, and a heat map of the hours of the week as a query.

let waymark: LocalWaymark
let project: LocalProject
let ann: string

const session = (n: number) => `018c27d3-2c01-7000-8000-${String(n).padStart(12, '0')}`
const event = (name: string, who: string, time: string, properties: Record<string, unknown> = {}) => ({
  event: name,
  distinct_id: who,
  timestamp: `2026-03-${time}:00Z`,
  properties,
})

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z') })
  project = await waymark.createProject({ name: 'Shop', timezone: 'UTC' })
  const group = (type: string, key: string, set: Record<string, unknown>) => ({
    event: '$groupidentify',
    distinct_id: 'server',
    timestamp: '2026-03-01T08:00:00Z',
    properties: { $group_type: type, $group_key: key, $group_set: set },
  })
  await project.ingest({
    batch: [
      group('company', 'acme', { name: 'Acme & Sons', seats: 40 }),
      group('company', 'globex', { name: 'Globex', seats: 7 }),
      group('company', 'nameless', { seats: 3 }),
      group('team', 'blue', { name: 'Acme team' }),
      event('$pageview', 'ann', '10T10:00', { $session_id: session(1), $current_url: 'https://x.io/a' }),
      event('purchase', 'ann', '10T10:05', { $session_id: session(1), plan: 'pro' }),
      event('$pageview', 'ben', '10T11:00', { $session_id: session(2), $current_url: 'https://x.io/b' }),
      event('$pageview', 'ann', '08T09:00', { $session_id: session(3), $current_url: 'https://x.io/c' }),
      event('job', 'ann', '10T06:00'),
      event('job', 'ann', '10T06:20'),
      event('job', 'ann', '10T07:30'),
      event('job', 'ben', '10T07:31'),
    ],
  })
  const found = (await project.answer({
    kind: 'SqlLikeQuery',
    query: "select person_id from events where distinct_id = 'ann' limit 1",
  })) as {
    results: [[string]]
  }
  ann = found.results[0][0]
})
afterAll(() => waymark.close())

interface Rows {
  readonly results: readonly (readonly unknown[])[]
  readonly columns: readonly string[]
  readonly types: readonly string[]
  readonly hasMore: boolean
  readonly limit: number
}
const ask = async <T = Rows>(query: Record<string, unknown>) => (await project.answer(query as { kind: string })) as T
const refused = (query: Record<string, unknown>) =>
  ask(query).then(
    () => null,
    ({ message, attr }: WaymarkError & { attr?: string }) => ({ message, attr }),
  )

describe('groups', () => {
  const groups = (more: Record<string, unknown>) => ask({ kind: 'GroupsQuery', group_type_index: 0, orderBy: ['key'], ...more })
  const keys = async (more: Record<string, unknown>) => (await groups({ select: ['key'], ...more })).results.flat()

  test('have a name, which is the key where there is none', async () => {
    const { columns, results, hasMore, limit } = await groups({})
    expect({ columns, results, hasMore, limit }).toEqual({
      columns: ['group_name', 'key'],
      results: [
        ['Acme & Sons', 'acme'],
        ['Globex', 'globex'],
        ['nameless', 'nameless'],
      ],
      hasMore: false,
      limit: 100,
    })
  })

  const cases: readonly (readonly [string, Record<string, unknown>, unknown[]])[] = [
    ['of another type', { group_type_index: 1 }, ['blue']],
    ['of a type that no event has named', { group_type_index: 4 }, []],
    ['whose name has a text', { search: 'SONS' }, ['acme']],
    ['whose key has a text', { search: 'nam' }, ['nameless']],
    [
      'with a property',
      { properties: [{ type: 'group', group_type_index: 0, key: 'seats', operator: 'gt', value: 5 }] },
      ['acme', 'globex'],
    ],
    ['in order of an expression', { orderBy: ['properties.seats DESC'] }, ['acme', 'globex', 'nameless']],
    ['in order of their names', { orderBy: ['group_name DESC'] }, ['nameless', 'globex', 'acme']],
    ['a page of them', { limit: 1, offset: 1 }, ['globex']],
  ]
  test.each(cases)('%s', async (_, query, expected) => expect(await keys(query)).toEqual(expected))

  test('columns are expressions with a type', async () => {
    const { results, types } = await groups({ select: ['key -- Id', 'toInt(properties.seats) * 2'], limit: 2 })
    expect(results).toEqual([
      ['acme', 80],
      ['globex', 14],
    ])
    expect(types).toHaveLength(2)
  })

  test('a mistake is told with its field', async () => {
    expect(await refused({ kind: 'GroupsQuery', group_type_index: 0, select: ['kye'] })).toMatchObject({ attr: 'select__0' })
    expect(await refused({ kind: 'GroupsQuery', group_type_index: 9 })).toMatchObject({ attr: 'group_type_index' })
  })
})

describe('sessions', () => {
  const ids = async (more: Record<string, unknown>) =>
    (await ask({ kind: 'SessionsQuery', select: ['session_id'], ...more })).results.map(([id]) => Number(String(id).slice(-4)))

  const cases: readonly (readonly [string, Record<string, unknown>, number[]])[] = [
    ['of the last day, the latest first', {}, [2, 1]],
    ['of all time', { after: 'all' }, [2, 1, 3]],
    ['that began before a time', { after: 'all', before: '2026-03-10T10:30:00Z' }, [1, 3]],
    ['with an event', { event: 'purchase' }, [1]],
    ['with an event that has a property', { event: 'purchase', eventProperties: [{ type: 'event', key: 'plan', value: 'free' }] }, []],
    ['with a property of their own', { properties: [{ type: 'session', key: '$session_duration', operator: 'gt', value: 60 }] }, [1]],
    ['that meet an expression', { where: ["$entry_current_url like '%/b'"] }, [2]],
    ['in another order', { after: 'all', orderBy: ['$start_timestamp'] }, [3, 1, 2]],
  ]
  test.each(cases)('%s', async (_, query, expected) => expect(await ids(query)).toEqual(expected))

  test('of a person', async () => expect(await ids({ after: 'all', personId: ann })).toEqual([1, 3]))

  test('have an exact hasMore', async () => {
    expect(await ask({ kind: 'SessionsQuery', select: ['session_id'], limit: 1 })).toMatchObject({ hasMore: true, limit: 1 })
    expect(await ask({ kind: 'SessionsQuery', select: ['session_id'], limit: 2 })).toMatchObject({ hasMore: false })
  })

  test('a mistake is told with its field', async () =>
    expect(await refused({ kind: 'SessionsQuery', select: ['session_id'], after: 'yesterdayish' })).toMatchObject({ attr: 'after' }))
})

describe('a timeline', () => {
  interface Timeline {
    readonly results: readonly {
      readonly sessionId?: string
      readonly events: readonly { readonly event: string; readonly timestamp: string }[]
    }[]
    readonly hasMore: boolean
  }
  const entries = async (more: Record<string, unknown>) => {
    const { results } = await ask<Timeline>({ kind: 'SessionsTimelineQuery', ...more })
    return results.map(({ sessionId, events }) => [sessionId?.slice(-1) ?? '-', ...events.map(({ timestamp }) => timestamp.slice(11, 16))])
  }

  test('has the events of each session, and those without one until half an hour is between them', async () => {
    expect(await entries({})).toEqual([
      ['2', '11:00'],
      ['1', '10:05', '10:00'],
      ['-', '07:31'],
      ['-', '07:30'],
      ['-', '06:20', '06:00'],
    ])
    expect(await entries({ personId: ann, after: 'all' })).toEqual([
      ['1', '10:05', '10:00'],
      ['-', '07:30'],
      ['-', '06:20', '06:00'],
      ['3', '09:00'],
    ])
  })

  test('of somebody unknown is empty', async () => expect(await entries({ personId: '018c27d3-2c01-7000-8000-00000000ffff' })).toEqual([]))
})

test('a calendar heat map has the numbers of the display of a trend', async () => {
  const asked = { series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '2026-03-01', date_to: '2026-03-10' } }
  const { results } = await ask<{ results: unknown }>({ kind: 'CalendarHeatmapQuery', ...asked })
  const shown = await ask<{ results: [{ calendar_heatmap_data: unknown }] }>({
    kind: 'TrendsQuery',
    ...asked,
    trendsFilter: { display: 'CalendarHeatmap' },
  })
  expect(results).toEqual(shown.results[0].calendar_heatmap_data)
  expect(results).toMatchObject({ allAggregations: 3, data: expect.arrayContaining([{ row: 2, column: 11, value: 1 }]) })
  expect(await refused({ kind: 'CalendarHeatmapQuery', series: [] })).toMatchObject({ attr: 'series' })
  expect(await refused({ kind: 'CalendarHeatmapQuery', series: [{ kind: 'EventsNode', event: 'a', math: 'sum' }] })).toMatchObject({
    attr: 'series__0__math_property',
  })
})
