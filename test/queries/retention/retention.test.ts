import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { RetentionResponse } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'

// Days 1 to 5 of March in New York. Cases that generated queries do not cover: persons and cohorts, the shape of an answer, and errors.

let waymark: LocalWaymark
let project: LocalProject
const days: Readonly<Record<string, readonly number[]>> = { ana: [1, 2, 3], ben: [1, 3], cid: [2, 3, 4], dan: [-3, 1, 2] }

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({ name: 'retention', timezone: 'America/New_York' })
  const noon = (day: number) => new Date(Date.UTC(2026, 2, day, 17)).toISOString()
  const events = Object.entries(days).flatMap(([who, on]) =>
    on.map((day) => ({
      event: '$pageview',
      distinct_id: who,
      timestamp: noon(day),
      properties: { price: day, $set: { plan: who < 'c' ? 'pro' : 'free' } },
    })),
  )
  const others = [{ event: 'signup', distinct_id: 'ana', timestamp: noon(1) }]
  await project.ingest({ batch: [...events, ...others] })
})
afterAll(() => waymark.close())

const query = { kind: 'RetentionQuery', retentionFilter: { totalIntervals: 4 } } as const
const filtered = (filter: object, more: object = {}) => ({ ...query, retentionFilter: { ...query.retentionFilter, ...filter }, ...more })
const ask = async (asked: object) => (await project.answer(asked)) as RetentionResponse & { readonly explain?: readonly object[] }
const counts = ({ results }: RetentionResponse) => results.map(({ values }) => values.map(({ count }) => count))

test('without a start the rows end with the interval of date_to', async () => {
  const { results, resolved_date_range } = await ask(query)
  expect(results.map(({ label, date }) => [label, date])).toEqual([
    ['Day 0', '2026-03-02T00:00:00-05:00'],
    ['Day 1', '2026-03-03T00:00:00-05:00'],
    ['Day 2', '2026-03-04T00:00:00-05:00'],
    ['Day 3', '2026-03-05T00:00:00-05:00'],
  ])
  expect(results[0]!.values.map(({ label }) => label)).toEqual(['Day 0', 'Day 1', 'Day 2', 'Day 3'])
  expect(resolved_date_range).toEqual({ date_from: '2026-03-02T00:00:00-05:00', date_to: '2026-03-05T23:59:59.999999-05:00' })
  expect(counts({ results, resolved_date_range })).toEqual([
    [3, 2, 1, 0],
    [3, 1, 0, 0],
    [1, 0, 0, 0],
    [0, 0, 0, 0],
  ])
  expect((await ask({ kind: 'RetentionQuery' })).results).toHaveLength(8)
})

const dateRange = { date_from: '2026-03-01', date_to: '2026-03-04' }
describe.each([['core'], ['sql']])('on the road %s', (road) => {
  const rows: readonly (readonly [name: string, query: object, counts: readonly (readonly number[])[]])[] = [
    [
      'recurring',
      filtered({}),
      [
        [3, 2, 2, 0],
        [3, 2, 1, 0],
        [3, 1, 0, 0],
        [1, 0, 0, 0],
      ],
    ],
    [
      'the first time, also before the range',
      filtered({ retentionType: 'retention_first_time' }),
      [
        [2, 1, 2, 0],
        [1, 1, 1, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    [
      'n days or later',
      filtered({ cumulative: true }),
      [
        [3, 3, 2, 0],
        [3, 2, 1, 0],
        [3, 1, 0, 0],
        [1, 0, 0, 0],
      ],
    ],
    [
      'brackets',
      filtered({ retentionCustomBrackets: [1, 2] }),
      [
        [3, 2, 2],
        [3, 2, 1],
        [3, 1, 0],
        [1, 0, 0],
      ],
    ],
    [
      'another event returns',
      filtered({ targetEntity: { id: 'signup' } }),
      [
        [1, 1, 1, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    [
      'any event',
      filtered({ targetEntity: { id: null, type: 'events' }, returningEntity: { id: 'signup' } }),
      [
        [3, 0, 0, 0],
        [3, 0, 0, 0],
        [3, 0, 0, 0],
        [1, 0, 0, 0],
      ],
    ],
    [
      'a removed action',
      filtered({ returningEntity: { id: 99, type: 'actions' } }),
      [
        [3, 0, 0, 0],
        [3, 0, 0, 0],
        [3, 0, 0, 0],
        [1, 0, 0, 0],
      ],
    ],
    [
      'a property of the person',
      filtered({}, { properties: [{ type: 'person', key: 'plan', value: 'pro' }] }),
      [
        [2, 1, 2, 0],
        [1, 1, 0, 0],
        [2, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    [
      'a filter of the start',
      filtered({ targetEntity: { id: '$pageview', properties: [{ type: 'event', key: 'price', value: 2 }] } }),
      [
        [0, 0, 0, 0],
        [3, 2, 1, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    ['by week', filtered({ period: 'Week', totalIntervals: 2 }), [[4, 0]]],
    [
      'more rows than values',
      filtered({ totalIntervals: 2 }),
      [
        [3, 2],
        [3, 2],
        [3, 1],
        [1, 0],
      ],
    ],
  ]
  test.each(rows)('%s', async (_, asked, expected) => {
    const answer = await ask({ ...asked, dateRange, modifiers: { road }, explain: true })
    expect(counts(answer)).toEqual(expected)
    expect(answer.explain).toContainEqual(expect.objectContaining({ road }))
  })

  test('a breakdown by persons, the largest first', async () => {
    const breakdownFilter = { breakdown: 'plan', breakdown_type: 'person' }
    const { results } = await ask(filtered({ totalIntervals: 2 }, { dateRange, breakdownFilter, modifiers: { road } }))
    expect(results.map(({ breakdown_value, values }) => [breakdown_value, values.map(({ count }) => count)])).toEqual([
      ['free', [1, 1]],
      ['free', [2, 1]],
      ['free', [1, 1]],
      ['free', [1, 0]],
      ['pro', [2, 1]],
      ['pro', [1, 1]],
      ['pro', [2, 0]],
      ['pro', [0, 0]],
    ])
  })

  test('sums and averages of a property', async () => {
    const numbers = async (aggregationType: string) => {
      const { results } = await ask(filtered({ aggregationType, aggregationProperty: 'price' }, { dateRange, modifiers: { road } }))
      return results[0]!.values.map((value) => value.aggregation_value)
    }
    // Ana, Ben and Dan on the first day; Ana and Dan on the second, Ana and Ben on the third.
    expect(await numbers('sum')).toEqual([3, 4, 6, 0])
    expect(await numbers('avg')).toEqual([1, 2, 3, 0])
  })
})

test('cohorts have rows of their own', async () => {
  const pro = await project.createCohort({
    name: 'pro',
    filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } },
  } as never)
  const id = (pro as { id: number }).id
  const breakdownFilter = { breakdown: ['all', id], breakdown_type: 'cohort' }
  const asked = filtered({ totalIntervals: 2 }, { dateRange, breakdownFilter })
  const { results } = await ask(asked)
  expect(results.map(({ breakdown_value, values }) => [breakdown_value, values[0]!.count])).toEqual([
    ...[3, 3, 3, 1].map((count) => ['0', count]),
    ...[2, 1, 2, 0].map((count) => [String(id), count]),
  ])
  const source = { kind: 'InsightActorsQuery', source: asked, interval: 0, breakdown: String(id) }
  const people = (await project.answer({ kind: 'ActorsQuery', source, select: ['id'] })) as { results: unknown[] }
  expect(people.results).toHaveLength(2)
})

test('the mean over rows counts intervals that lie in the range', async () => {
  const mean = async (filter: object) => (await ask(filtered(filter, { dateRange }))).mean?.map(({ values }) => values)
  expect(await mean({})).toBeUndefined()
  expect(await mean({ meanRetentionCalculation: 'none' })).toBeUndefined()
  // Day 1: 2 of 3, 2 of 3, 1 of 3; day 2: 2 of 3, 1 of 3; day 3: 0 of 3.
  expect(await mean({ meanRetentionCalculation: 'weighted' })).toEqual([[100, 500 / 9, 50, 0]])
  const [simple] = (await mean({ meanRetentionCalculation: 'simple' }))!
  expect(simple!.map((value) => Number(value!.toFixed(6)))).toEqual([100, 55.555556, 50, 0])
  // Compared with the day before: 2 of 2 and 1 of 2.
  expect(await mean({ meanRetentionCalculation: 'simple', retentionReference: 'previous' })).toEqual([
    [100, expect.closeTo(55.555556, 5), 75, 0],
  ])
})

describe('a comparison', () => {
  const current = { date_from: '2026-03-03', date_to: '2026-03-04' }
  const compared = (compareFilter: object, filter: object = {}) => filtered(filter, { dateRange: current, compareFilter })
  const shown = async (query: object) =>
    (await ask(query)).results.map(({ date, values, compare_label }) => [
      compare_label,
      date.slice(0, 10),
      ...values.map(({ count }) => count),
    ])

  test('has as many rows right before, with the same labels', async () => {
    const answer = await ask(compared({ compare: true }, { totalIntervals: 2 }))
    expect(answer).toMatchObject({
      resolved_date_range: { date_from: '2026-03-03T00:00:00-05:00', date_to: '2026-03-04T23:59:59.999999-05:00' },
      resolved_compare_date_range: { date_from: '2026-03-01T00:00:00-05:00', date_to: '2026-03-02T23:59:59.999999-05:00' },
    })
    expect(answer.results.map(({ label, compare }) => [label, compare])).toEqual([
      ['Day 0', true],
      ['Day 1', true],
      ['Day 0', true],
      ['Day 1', true],
    ])
    // Of those of the first day Ana and Dan return on the second one; what they did on the third one lies behind the end of that period.
    expect(await shown(compared({ compare: true }, { totalIntervals: 3 }))).toEqual([
      ['current', '2026-03-03', 3, 1, 0],
      ['current', '2026-03-04', 1, 0, 0],
      ['previous', '2026-03-01', 3, 2, 0],
      ['previous', '2026-03-02', 3, 0, 0],
    ])
  })

  test('or as many from the shifted start on', async () => {
    expect((await shown(compared({ compare: true, compare_to: '-1d' }))).slice(2).map(([, date]) => date)).toEqual([
      '2026-03-02',
      '2026-03-03',
    ])
    const weeks = filtered(
      { period: 'Week', totalIntervals: 1 },
      { dateRange: current, compareFilter: { compare: true, compare_to: '-1m' } },
    )
    // The week of 1 March begins on that Sunday; a month earlier is Sunday, 1 February.
    expect((await shown(weeks)).map(([, date]) => date)).toEqual(['2026-03-01', '2026-02-01'])
    const months = filtered({ period: 'Month' }, { dateRange: { date_from: '2026-02-10' }, compareFilter: { compare: true } })
    expect((await shown(months)).map(([, date]) => date)).toEqual(['2026-02-01', '2026-03-01', '2025-12-01', '2026-01-01'])
  })

  test('without a comparison nothing says of which period a row is', async () => {
    const answer = await ask(compared({ compare: false }))
    expect(answer).not.toHaveProperty('resolved_compare_date_range')
    expect(answer.results.map((row) => 'compare' in row || 'compare_label' in row)).toEqual([false, false])
  })

  test('each period has its mean', async () => {
    const { mean } = await ask(compared({ compare: true }, { totalIntervals: 2, meanRetentionCalculation: 'weighted' }))
    expect(mean).toEqual([
      { breakdown_value: null, values: [100, 100 / 3], compare: true, compare_label: 'current' },
      { breakdown_value: null, values: [100, 200 / 3], compare: true, compare_label: 'previous' },
    ])
  })

  test('the actors of both, and their choices', async () => {
    const source = { kind: 'InsightActorsQuery', source: compared({ compare: true }), interval: 0, day: 1 }
    const list = async (more: object) =>
      ((await project.answer({ kind: 'ActorsQuery', source: { ...source, ...more }, select: ['id'] })) as { results: unknown[] }).results
        .length
    expect([await list({}), await list({ compare: 'current' }), await list({ compare: 'previous' })]).toEqual([1, 1, 2])
    expect(await project.answer({ kind: 'InsightActorsQueryOptions', source })).toMatchObject({
      compare: [{ value: 'current' }, { value: 'previous' }],
    })
    const alone = { ...source, source: compared({ compare: false }) }
    expect(await project.answer({ kind: 'InsightActorsQueryOptions', source: alone })).not.toHaveProperty('compare.0')
    await expect(list({ source: alone.source, compare: 'previous' })).rejects.toMatchObject({ attr: 'source__compare' })
  })

  test('a period that is none is refused', async () => {
    await expect(ask(compared({ compare: true, compare_to: 'May' }))).rejects.toMatchObject({ attr: 'compareFilter__compare_to' })
  })
})

test('labels of brackets', async () => {
  const { results } = await ask(filtered({ retentionCustomBrackets: [1, 3, 2], period: 'Week' }))
  expect(results[0]!.values.map(({ label }) => label)).toEqual(['Week 0', 'Week 1', 'Week 2-4', 'Week 5-6'])
})

test('24-hour windows begin with the hour of the first start', async () => {
  const own = await waymark.createProject({ name: 'windows' })
  const visit = (who: string, timestamp: string) => ({ event: '$pageview', distinct_id: who, timestamp })
  await own.ingest({
    batch: [
      visit('ana', '2026-03-01T22:30:00Z'),
      visit('ana', '2026-03-02T21:59:00Z'), // the next day, but within 24 hours
      visit('ben', '2026-03-01T22:30:00Z'),
      visit('ben', '2026-03-02T22:00:00Z'),
      visit('ben', '2026-03-03T23:00:00Z'),
    ],
  })
  const counted = async (timeWindowMode: string) =>
    counts(
      (await own.answer(
        filtered({ timeWindowMode, totalIntervals: 3 }, { dateRange: { date_from: '2026-03-01', date_to: '2026-03-02' } }),
      )) as RetentionResponse,
    )
  expect(await counted('strict_calendar_dates')).toEqual([
    [2, 2, 0],
    [2, 0, 0],
  ])
  expect(await counted('24_hour_windows')).toEqual([
    [2, 1, 0],
    [0, 0, 0],
  ])
})

describe.each([['core'], ['sql']])('exact edges, on the road %s', (road) => {
  const edgesOf = async (
    events: readonly (readonly [event: string, timestamp: string, price?: number])[],
    filter: object,
    range: object,
  ) => {
    const own = await waymark.createProject({ name: 'edges' })
    await own.ingest({
      batch: events.map(([event, timestamp, price]) => ({ event, distinct_id: 'ana', timestamp, properties: { price } })),
    })
    return (await own.answer({
      kind: 'RetentionQuery',
      retentionFilter: filter,
      dateRange: range,
      modifiers: { road },
    })) as RetentionResponse
  }

  test('in the first interval only returns after the start are summed', async () => {
    const events = [
      ['buy', '2026-02-01T09:00:00Z', 1],
      ['signup', '2026-02-01T10:00:00Z'],
      ['buy', '2026-02-01T10:00:00Z', 2],
      ['buy', '2026-02-01T10:00:01Z', 4],
      ['signup', '2026-02-01T11:00:00Z'],
      ['buy', '2026-02-02T00:00:00Z', 8],
    ] as const
    const filter = {
      targetEntity: { id: 'signup' },
      returningEntity: { id: 'buy' },
      totalIntervals: 2,
      aggregationType: 'sum',
      aggregationProperty: 'price',
    }
    const { results } = await edgesOf(events, filter, { date_from: '2026-02-01', date_to: '2026-02-02' })
    expect(results.map(({ values }) => values.map(({ aggregation_value: sum }) => sum))).toEqual([
      [4, 8],
      [0, 0],
    ])
  })

  test.each([
    ['Week', '2026-02-07', '2026-02-08'],
    ['Month', '2026-03-02', '2026-03-03'],
  ])('the second window of a %s begins 7 or 30 days after the day of the start', async (period, before, after) => {
    const filter = { timeWindowMode: '24_hour_windows', period, totalIntervals: 2 }
    const returnsOn = async (day: string) => {
      const events = [
        ['$pageview', '2026-02-01T20:00:00Z'],
        ['$pageview', `${day}T01:00:00Z`],
      ] as const
      return counts(await edgesOf(events, filter, { date_from: '2026-02-01', date_to: '2026-03-04' }))[0]
    }
    expect(await returnsOn(before)).toEqual([1, 0])
    expect(await returnsOn(after)).toEqual([1, 1])
  })
})

test('the actors of a row, with the values in which they appear', async () => {
  const source = { kind: 'InsightActorsQuery', source: filtered({}, { dateRange }), interval: 0 }
  const list = async (point: object, select: readonly string[]) =>
    ((await project.answer({ kind: 'ActorsQuery', source: { ...source, ...point }, select, orderBy: ['id'] })) as { results: unknown[][] })
      .results
  expect((await list({}, ['id', 'appearances'])).map(([, appearances]) => JSON.stringify(appearances)).sort()).toEqual([
    '[0,1,2]',
    '[0,1]',
    '[0,2]',
  ])
  expect(await list({ day: 2 }, ['id'])).toHaveLength(2)
  // Each value as a column: here of days.
  const columns = await list({}, ['id', 'appearances', 'day_0', 'day_1', 'day_2'])
  for (const [, appearances, ...days] of columns)
    expect(days).toEqual([0, 1, 2].map((day) => ((appearances as number[]).includes(day) ? 1 : 0)))
  expect(await list({}, ['day_0'])).toEqual([[1], [1], [1]])
  const summed = { kind: 'ActorsQuery', source, select: ['sum(day_2)', 'count()'], orderBy: [] }
  expect(((await project.answer(summed)) as { results: unknown }).results).toEqual([[2, 3]])
  await expect(list({}, ['day_99'])).rejects.toMatchObject({ attr: 'select__0' })
  expect(await list({ day: 3 }, ['id'])).toHaveLength(0)
  await expect(list({ interval: 4 }, ['id'])).rejects.toMatchObject({ attr: 'source__interval' })
  await expect(list({ day: 4 }, ['id'])).rejects.toMatchObject({ attr: 'source__day' })
  const options = await project.answer({ kind: 'InsightActorsQueryOptions', source })
  expect(options).toMatchObject({ interval: [{ label: 'Day 0', value: 0 }, { value: 1 }, { value: 2 }, { value: 3 }] })
})

test.each([
  ['an unknown period', filtered({ period: 'Year' }), 'retentionFilter__period'],
  ['no interval', filtered({ totalIntervals: 0 }), 'retentionFilter__totalIntervals'],
  ['an action by name', filtered({ targetEntity: { id: 'x', type: 'actions' } }), 'retentionFilter__targetEntity__id'],
  ['a table of a warehouse', filtered({ targetEntity: { id: 'x', type: 'data_warehouse' } }), 'retentionFilter__targetEntity__type'],
  [
    'a wrong filter of an entity',
    filtered({ returningEntity: { id: 'x', properties: [{ key: 'k', value: '(', operator: 'regex' }] } }),
    'retentionFilter__returningEntity__properties__0__value',
  ],
  ['cumulative windows', filtered({ cumulative: true, timeWindowMode: '24_hour_windows' }), 'retentionFilter__cumulative'],
  ['a sum without a property', filtered({ aggregationType: 'sum' }), 'retentionFilter__aggregationProperty'],
  [
    'sums in windows',
    filtered({ aggregationType: 'sum', aggregationProperty: 'price', timeWindowMode: '24_hour_windows' }),
    'retentionFilter__aggregationType',
  ],
  ['a cumulative sum', filtered({ aggregationType: 'sum', aggregationProperty: 'price', cumulative: true }), 'retentionFilter__cumulative'],
  ['an empty bracket', filtered({ retentionCustomBrackets: [1, 0] }), 'retentionFilter__retentionCustomBrackets__1'],
  [
    'a histogram',
    filtered({}, { breakdownFilter: { breakdown: 'price', breakdown_histogram_bin_count: 3 } }),
    'breakdownFilter__breakdown_histogram_bin_count',
  ],
  [
    'a cohort that does not exist',
    filtered({}, { breakdownFilter: { breakdown: [77], breakdown_type: 'cohort' } }),
    'breakdownFilter__breakdown',
  ],
  ['too many rows', filtered({ period: 'Hour' }, { dateRange: { date_from: '2020-01-01' } }), 'dateRange__date_from'],
  ['too many values', filtered({ totalIntervals: 1000 }), 'retentionFilter__totalIntervals'],
  ['a misspelled field', filtered({ totalInterval: 3 }), 'retentionFilter__totalInterval'],
])('%s is refused by name', async (_, wrong, attr) => {
  await expect(project.answer(wrong)).rejects.toMatchObject({ code: expect.stringMatching(/^(validation-failed|engine-refused)$/), attr })
})
