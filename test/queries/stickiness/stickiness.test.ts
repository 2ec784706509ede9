import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { StickinessResponse } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'

// Days 1 to 5 of March in New York. Cases that generated queries do not cover: the shape of an answer, actions, properties of persons, and errors.

let waymark: LocalWaymark
let project: LocalProject
const days: Readonly<Record<string, readonly number[]>> = { ana: [1, 2, 3], ben: [1, 1, 3], cid: [4], dan: [-3, 2] }

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({ name: 'stickiness', timezone: 'America/New_York' })
  const noon = (day: number) => new Date(Date.UTC(2026, 2, day, 17)).toISOString()
  await project.ingest({
    batch: Object.entries(days).flatMap(([who, on]) =>
      on.map((day) => ({
        event: 'visit',
        distinct_id: who,
        timestamp: noon(day),
        properties: { $set: { plan: who < 'c' ? 'pro' : 'free' } },
      })),
    ),
  })
})
afterAll(() => waymark.close())

const series = [{ kind: 'EventsNode', event: 'visit' }] as const
const query = { kind: 'StickinessQuery', series, dateRange: { date_from: '2026-03-01', date_to: '2026-03-05' } } as const
const ask = async (asked: object) => (await project.answer(asked)) as StickinessResponse & { readonly explain?: readonly object[] }

test('a row has a number for each number of intervals', async () => {
  expect(await ask(query)).toMatchObject({
    results: [
      {
        data: [2, 1, 1, 0, 0],
        days: [1, 2, 3, 4, 5],
        labels: ['1 day', '2 days', '3 days', '4 days', '5 days'],
        count: 4,
        label: 'visit',
        action: { id: 'visit', name: 'visit', type: 'events', order: 0 },
      },
    ],
    resolved_date_range: { date_from: '2026-03-01T00:00:00-05:00', date_to: '2026-03-05T23:59:59.999999-05:00' },
  })
})

test('a comparison adds the rows of the period before, after all current ones', async () => {
  const asked = { ...query, series: [...series, { kind: 'EventsNode', event: null }], compareFilter: { compare: true } }
  const { results } = await ask(asked)
  expect(results.map(({ label, compare, compare_label, data }) => [label, compare, compare_label, data[0]])).toEqual([
    ['visit', true, 'current', 2],
    ['All events', true, 'current', 2],
    ['visit', true, 'previous', 1],
    ['All events', true, 'previous', 1],
  ])
})

test('at least so many intervals', async () => {
  const { results } = await ask({ ...query, stickinessFilter: { computedAs: 'cumulative' } })
  expect(results[0]).toMatchObject({ data: [4, 2, 1, 0, 0], count: 4 })
  expect(results[0]!.labels.slice(0, 2)).toEqual(['1 day or more', '2 days or more'])
})

describe.each([['core'], ['sql']])('on the road %s', (road) => {
  const rows: readonly (readonly [name: string, more: object, data: readonly number[]])[] = [
    ['enough events in an interval', { stickinessFilter: { stickinessCriteria: { operator: 'gte', value: 2 } } }, [1, 0, 0, 0, 0]],
    ['a property of the person', { properties: [{ type: 'person', key: 'plan', value: 'pro' }] }, [0, 1, 1, 0, 0]],
    ['persons by an expression', { series: [{ ...series[0], math: 'hogql', math_hogql: 'person_id' }] }, [2, 1, 1, 0, 0]],
    ['two days as one, from the end', { intervalCount: 2 }, [2, 2, 0]],
    ['weeks that begin within the range', { interval: 'week' }, [4]],
  ]
  test.each(rows)('%s', async (_, more, expected) => {
    const answer = await ask({ ...query, ...more, modifiers: { road }, explain: true })
    expect(answer.results[0]!.data).toEqual(expected)
    expect(answer.explain).toContainEqual(expect.objectContaining({ road }))
  })
})

test('a removed action has no row', async () => {
  const { results } = await ask({ ...query, series: [{ kind: 'ActionsNode', id: 99 }, ...series] })
  expect(results.map(({ label }) => label)).toEqual(['visit'])
  const source = { kind: 'InsightActorsQuery', source: { ...query, series: [{ kind: 'ActionsNode', id: 99 }] }, day: 1 }
  expect(await project.answer({ kind: 'ActorsQuery', source, select: ['id'] })).toMatchObject({ results: [] })
})

test('the actors of a number, and their events', async () => {
  const list = async (point: object) => {
    const source = { kind: 'StickinessActorsQuery', source: query, ...point }
    const answer = (await project.answer({
      kind: 'ActorsQuery',
      source,
      select: ['properties.plan', 'event_count'],
      orderBy: ['event_count'],
    })) as {
      results: unknown[]
    }
    return answer.results
  }
  expect(await list({ day: 2 })).toEqual([['pro', 3]])
  expect(await list({ day: '3' })).toEqual([['pro', 3]])
  expect(await list({ day: 2, operator: 'gte' })).toHaveLength(2)
  expect(await list({})).toHaveLength(4)
  await expect(list({ day: 6 })).rejects.toMatchObject({ attr: 'source__day' })
  await expect(list({ series: 1 })).rejects.toMatchObject({ attr: 'source__series' })
  await expect(list({ compare: 'previous' })).rejects.toMatchObject({ attr: 'source__compare' })
  const options = await project.answer({ kind: 'InsightActorsQueryOptions', source: { kind: 'InsightActorsQuery', source: query } })
  expect(options).toMatchObject({ day: [{ label: '1 day', value: '1' }, {}, {}, {}, {}], series: [{ label: 'visit', value: 0 }] })
})

test.each([
  ['no series', { ...query, series: [] }, 'series'],
  ['a sum', { ...query, series: [{ ...series[0], math: 'sum', math_property: 'n' }] }, 'series__0__math'],
  ['groups without a type', { ...query, series: [{ ...series[0], math: 'unique_group' }] }, 'series__0__math_group_type_index'],
  ['an expression that is missing', { ...query, series: [{ ...series[0], math: 'hogql' }] }, 'series__0__math_hogql'],
  ['an unknown interval', { ...query, interval: 'moon' }, 'interval'],
  ['no intervals', { ...query, intervalCount: 0 }, 'intervalCount'],
  [
    'an unknown comparison',
    { ...query, stickinessFilter: { stickinessCriteria: { operator: 'about', value: 1 } } },
    'stickinessFilter__stickinessCriteria__operator',
  ],
  ['an unknown way to count', { ...query, stickinessFilter: { computedAs: 'total' } }, 'stickinessFilter__computedAs'],
])('%s is refused by name', async (_, wrong, attr) => {
  await expect(project.answer(wrong)).rejects.toMatchObject({ code: 'validation-failed', attr })
})

test('the persons of an expression cannot be listed', async () => {
  const source = {
    kind: 'InsightActorsQuery',
    source: { ...query, series: [{ ...series[0], math: 'hogql', math_hogql: 'properties.a' }] },
    day: 1,
  }
  const refused = { code: 'validation-failed', attr: 'source__source__series__0__math' }
  await expect(project.answer({ kind: 'ActorsQuery', source })).rejects.toMatchObject(refused)
})
