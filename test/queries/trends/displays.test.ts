import { afterAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { answerTable } from '../../../src/queries/answers/rows.ts'
import { projectPool } from '../../harness/projects.ts'
import type { ReferenceDisplay } from '../../reference/displays.ts'
import { asTrend, dayText, firstDay } from '../../reference/displays-cases.ts'

// What heat maps and box plots refuse, their rows, and the actors of boxes; the ends of slope graphs.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const view = { kind: 'EventsNode', event: 'view' }
const asked = (display: string, more: object = {}) => ({ kind: 'TrendsQuery', series: [view], trendsFilter: { display }, ...more })
test.each<[name: string, query: object, attr: string, words: string]>([
  ['no property', asked('BoxPlot'), 'series__0__math_property', 'property'],
  ['a breakdown', asked('CalendarHeatmap', { breakdownFilter: { breakdown: 'k' } }), 'breakdownFilter', 'breakdown'],
  [
    'a goal',
    asked('BoxPlot', { series: [{ ...view, math_property: 'n' }], conversionGoal: { customEventName: 'buy' } }),
    'conversionGoal',
    'goal',
  ],
  [
    'an action that is gone as the goal',
    asked('CalendarHeatmap', { conversionGoal: { actionId: 77 } }),
    'conversionGoal__actionId',
    'no action 77',
  ],
  ['two goals', asked('CalendarHeatmap', { conversionGoal: { actionId: 77, customEventName: 'buy' } }), 'conversionGoal', 'either'],
  ['a formula', asked('x', { trendsFilter: { display: 'CalendarHeatmap', formula: 'A' } }), 'trendsFilter__formula', 'formulas'],
  [
    'a math over several days',
    asked('CalendarHeatmap', { series: [{ ...view, math: 'weekly_active' }] }),
    'series__0__math',
    'weekly_active',
  ],
  [
    'lengths of sessions',
    asked('BoxPlot', { series: [{ ...view, math: 'avg', math_property: '$session_duration' }] }),
    'series__0__math_property',
    'session lengths',
  ],
])('%s is refused', async (_, query, attr, words) => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  await expect(answerQuery(query, project)).rejects.toMatchObject({ attr, message: expect.stringContaining(words) as string })
})

test('a row only belongs to a heat map', async () => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  const source = { kind: 'InsightActorsQuery', source: { kind: 'TrendsQuery', series: [view] }, row: 1 }
  await expect(answerQuery({ kind: 'ActorsQuery', source }, project)).rejects.toMatchObject({ attr: 'source__row' })
})

test.each(['core', 'sql'])('a box plot is answered by the road %s, and says so', async (road) => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  const query = asked('BoxPlot', { series: [{ ...view, math: 'unique_session', math_property: 'n' }] })
  const { explain } = (await answerQuery({ ...query, explain: true, modifiers: { road } }, project)) as { explain?: readonly object[] }
  expect(explain).toContainEqual(expect.objectContaining({ road }))
})

test('both have rows as Arrow', async () => {
  const events = [0, 1].map((i) => ({
    event: 'view',
    person: 1,
    at: (firstDay + i * 3_600_000) * 1000,
    session: '',
    group: '',
    properties: { n: i },
  }))
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, events)
  const query: ReferenceDisplay = {
    zone: 'UTC',
    weekStartDay: 0,
    interval: 'day',
    from: dayText(0),
    to: dayText(1),
    event: 'view',
    math: 'total',
    compares: null,
  }
  const rows = async (display: string, compares: ReferenceDisplay['compares'] = null) =>
    answerTable(await answerQuery(asTrend({ ...query, compares }, display), project))
      .toArray()
      .map((row) => ({ ...(row.toJSON() as object) }))
  expect(await rows('CalendarHeatmap')).toEqual([0, 1].map((column) => ({ order: 0, label: 'view', row: 1, column, value: 1 })))
  expect(await rows('BoxPlot')).toEqual([
    { series_index: 0, series_label: 'view', day: dayText(0), min: 0, p25: 0.25, median: 0.5, p75: 0.75, max: 1, mean: 0.5, count: 2 },
    { series_index: 0, series_label: 'view', day: dayText(1), min: 0, p25: 0, median: 0, p75: 0, max: 0, mean: 0, count: 0 },
  ])
  expect(await rows('CalendarHeatmap', 'before')).toEqual(
    [0, 1].map((column) => ({ order: 0, label: 'view', compare_label: 'current', row: 1, column, value: 1 })),
  )
  expect(await rows('BoxPlot', 'before')).toMatchObject(
    [0, 1, -2, -1].map((day) => ({
      series_label: 'view',
      compare_label: day < 0 ? 'previous' : 'current',
      day: dayText(day),
      count: day === 0 ? 2 : 0,
    })),
  )
})

describe('the actors of a box', () => {
  // Of the first person one number, of the second two, and events without one; the third has none.
  const found = [
    [1, { n: 4 }],
    [1, { n: 'x' }],
    [2, { n: '5' }],
    [2, { n: 6 }],
    [2, {}],
    [3, { n: null }],
  ] as const
  const events = found.map(([person, properties], i) => ({
    event: 'view',
    person,
    at: (firstDay + i * 3_600_000) * 1000,
    session: i === 0 ? '019b0000-0000-7000-8000-000000000001' : '',
    group: '',
    properties,
  }))
  const store = { persons: [{ person: 1, properties: { age: 7 } }, { person: 2 }, { person: 3, properties: { age: 'old' } }] }
  const listed = async (node: object, road: 'core' | 'sql', more: object = {}, point: object = { day: dayText(0) }) => {
    const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, events, store)
    const range = { date_from: dayText(0), date_to: dayText(1) }
    const trend = asked('BoxPlot', { series: [{ ...view, ...node }], dateRange: range, ...more })
    const source = { kind: 'InsightActorsQuery', source: trend, ...point }
    const query = { kind: 'ActorsQuery', source, select: ['id', 'event_count'], orderBy: ['id'], modifiers: { road } }
    const { results } = (await answerQuery(query, project)) as { results: readonly (readonly [string, unknown])[] }
    return Object.fromEntries(results.map(([id, count]) => [Number(id.slice(-1)), Number(count)]))
  }

  const numbers = { 1: 1, 2: 2 }
  describe.each(['core', 'sql'] as const)('by the road %s', (road) => {
    test.each<[name: string, node: object, actors: object]>([
      ['without a math', { math_property: 'n' }, numbers],
      ...['avg', 'p99', 'dau', 'weekly_active', 'first_time_for_user', 'unique_session', 'avg_count_per_actor'].map(
        (math): [string, object, object] => [`of the math ${math}`, { math, math_property: 'n' }, numbers],
      ),
      ['of groups', { math: 'unique_group', math_group_type_index: 0, math_property: 'n' }, numbers],
      ['of a multiple', { math: 'avg', math_property: 'n', math_multiplier: 2 }, numbers],
      ['of an amount', { math: 'avg', math_property: 'n', math_property_revenue_currency: { static: 'USD' } }, numbers],
      ['of the time', { math: 'avg', math_property: '$time' }, { 1: 2, 2: 3, 3: 1 }],
      ['of their own property', { math: 'avg', math_property: 'age', math_property_type: 'person_properties' }, { 1: 2 }],
      [
        'of a property of the session',
        { math: 'avg', math_property: '$num_uniq_urls', math_property_type: 'session_properties' },
        { 1: 1 },
      ],
    ])('%s', async (_, node, actors) => {
      expect(await listed(node, road)).toEqual(actors)
    })

    test('of a bucket without a number, of the whole range, of a filter', async () => {
      const node = { math: 'avg', math_property: 'n' }
      expect(await listed(node, road, {}, { day: dayText(1) })).toEqual({})
      expect(await listed(node, road, {}, {})).toEqual(numbers)
      expect(await listed(node, road, { properties: [{ key: 'n', value: ['6'], operator: 'exact', type: 'event' }] })).toEqual({ 2: 1 })
    })

    test('of the period to compare with, by its day and by the day at its place', async () => {
      const node = { math: 'avg', math_property: 'n' }
      const more = { dateRange: { date_from: dayText(2), date_to: dayText(3) }, compareFilter: { compare: true } }
      for (const [day, actors] of [
        [dayText(0), numbers],
        [dayText(2), numbers],
        [dayText(3), {}],
      ] as const)
        expect(await listed(node, road, more, { day, compare: 'previous' })).toEqual(actors)
      expect(await listed(node, road, more, { day: dayText(2), compare: 'current' })).toEqual({})
    })
  })

  test('are chosen from its buckets and periods', async () => {
    const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
    const options = async (display: string) => {
      const series = [{ ...view, math: 'avg', math_property: 'n' }]
      const more = { series, dateRange: { date_from: dayText(0), date_to: dayText(1) }, compareFilter: { compare: true } }
      const source = { kind: 'InsightActorsQuery', source: asked(display, more) }
      return (await answerQuery({ kind: 'InsightActorsQueryOptions', source }, project)) as object
    }
    const compare = [{ value: 'current' }, { value: 'previous' }]
    expect(await options('BoxPlot')).toMatchObject({ day: [{ label: '24-Feb-2020' }, { label: '25-Feb-2020' }], compare })
    expect(await options('CalendarHeatmap')).toMatchObject({ day: null, compare })
  })
})

test('a heat map by the beginning of sessions counts a person once for each of them', async () => {
  const id = '019b0000-0000-7000-8000-000000000001'
  // Monday at 10 and 12 o'clock, then without a session at 13.
  const hours = [
    [10, 1, id],
    [12, 1, id],
    [13, 2, ''],
  ] as const
  const events = hours.map(([hour, person, session]) => ({
    event: 'view',
    person,
    at: (firstDay + hour * 3_600_000) * 1000,
    session,
    group: '',
    properties: {},
  }))
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, events)
  const query = (math: string, bucketBySessionStart: boolean) => ({
    ...asked('CalendarHeatmap', { series: [{ ...view, math }] }),
    dateRange: { date_from: dayText(0), date_to: dayText(1) },
    calendarHeatmapFilter: { bucketBySessionStart },
  })
  const cells = async (math: string, isBySession: boolean) => {
    const { results } = (await answerQuery(query(math, isBySession), project)) as {
      results: readonly { calendar_heatmap_data: { data: readonly { column: number; value: number }[]; allAggregations: number } }[]
    }
    return results[0]!.calendar_heatmap_data.data.map(({ column, value }) => [column, value])
  }
  const spread = [
    [10, 1],
    [12, 1],
    [13, 1],
  ]
  expect(await cells('dau', false)).toEqual(spread)
  expect(await cells('dau', true)).toEqual([
    [10, 1],
    [13, 1],
  ])
  expect(await cells('total', true)).toEqual(spread)
  const actors = async (column: number) => {
    const source = { kind: 'InsightActorsQuery', source: query('dau', true), row: 1, column }
    const answer = (await answerQuery({ kind: 'ActorsQuery', source, select: ['id', 'event_count'] }, project)) as { results: unknown[][] }
    return answer.results.map(([, count]) => count)
  }
  expect([await actors(10), await actors(12), await actors(13)]).toEqual([[2], [], [1]])
})

test.each<[name: string, dates: object, interval: string, days: string[], isUnfinished: boolean]>([
  ['the last bucket is over', { date_from: '2020-05-01', date_to: '2020-05-10' }, 'day', ['2020-05-01', '2020-05-10'], false],
  ['the last bucket is that of now', { date_from: '2020-04-01' }, 'month', ['2020-04-01', '2020-06-01'], true],
  ['one bucket', { date_from: '2020-05-01', date_to: '2020-05-31' }, 'month', ['2020-05-01'], false],
  ['two buckets', { date_from: '2020-05-01', date_to: '2020-05-02' }, 'day', ['2020-05-01', '2020-05-02'], false],
])('a slope graph has two ends: %s', async (_, dateRange, interval, days, incomplete_end) => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  const query = asked('SlopeGraph', { dateRange, interval })
  const { results } = (await answerQuery(query, project)) as { results: readonly object[] }
  expect(results).toMatchObject([{ days, data: days.map(() => 0), count: 0, incomplete_end }])
  const options = await answerQuery({ kind: 'InsightActorsQueryOptions', source: { kind: 'InsightActorsQuery', source: query } }, project)
  expect((options as { day: { value: string }[] }).day.map(({ value }) => value.slice(0, 10))).toEqual(days)
})
