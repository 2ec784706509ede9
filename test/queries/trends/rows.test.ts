import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { QueryProject } from '../../../src/engine/execution/query-context.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { fillStore } from '../../harness/store.ts'

let store: TestProject
let project: QueryProject
const at = (text: string) => Date.parse(text) * 1000

// 1 to 4 January, a Wednesday to a Saturday.
const events: readonly (readonly [event: string, person: number, time: string, properties?: Record<string, unknown>])[] = [
  ['view', 1, '2020-01-01T10:00:00Z', { url: 'https://x.org/a/', price: 10, flag: true }],
  ['view', 1, '2020-01-01T11:00:00Z', { url: 'https://x.org/a?', price: '20', flag: false }],
  ['view', 2, '2020-01-02T10:00:00Z', { url: 'https://x.org/b#', price: 'x' }],
  ['view', 3, '2020-01-04T10:00:00Z', { url: '/', price: 30, flag: true }],
  ['buy', 1, '2020-01-02T10:00:00Z', { price: 5 }],
  ['buy', 2, '2020-01-04T10:00:00Z', { price: 7 }],
]

beforeAll(async () => {
  store = await openTestProject({ now: new Date('2020-01-04T12:00:00Z') })
  await fillStore(store, {
    events: events.map(([event, person, time, properties]) => ({
      event,
      person,
      at: at(time),
      properties,
      groups: [person < 3 ? 'acme' : ''],
    })),
    persons: [1, 2, 3].map((person) => ({ person, properties: { name: `p${person}` } })),
    groups: [{ index: 0, key: 'acme', properties: { size: '10' } }],
    cohorts: { 1: [1], 2: [2, 3] },
    propertyTypes: [{ scope: 'event', name: 'flag', type: 'Boolean' }],
  })
  const action = { id: 5, name: 'Paid', steps: [{ event: 'buy' }] }
  const settings = { ...store.settings, pathCleaningFilters: [{ regex: '/[ab]', alias: '/:page' }] }
  project = {
    ...store,
    settings,
    facts: async () => ({ ...(await store.facts()), actions: new Map([[action.id, JSON.stringify(action)]]) }),
  }
})
afterAll(() => store.close())

const view = (parts: object = {}) => ({ kind: 'EventsNode', event: 'view', name: 'view', ...parts })
const buy = (parts: object = {}) => ({ kind: 'EventsNode', event: 'buy', name: 'buy', ...parts })
const ask = async (query: object): Promise<TrendsResponse> =>
  (await answerQuery(
    { kind: 'TrendsQuery', dateRange: { date_from: '2020-01-01', date_to: '2020-01-04' }, ...query },
    project,
  )) as TrendsResponse
const shown = async (query: object) => (await ask(query)).results.map((row) => [row.label, row.aggregated_value ?? row.data])

test('a row says everything that a chart needs', async () => {
  const answer = await ask({ series: [view({ custom_name: 'Views', math: 'dau' })] })
  expect(answer).toEqual({
    results: [
      {
        data: [1, 1, 0, 1],
        days: ['2020-01-01', '2020-01-02', '2020-01-03', '2020-01-04'],
        labels: ['1-Jan-2020', '2-Jan-2020', '3-Jan-2020', '4-Jan-2020'],
        count: 3,
        label: 'view',
        order: 0,
        action: {
          days: ['2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z', '2020-01-03T00:00:00Z', '2020-01-04T00:00:00Z'],
          id: 'view',
          type: 'events',
          order: 0,
          name: 'view',
          custom_name: 'Views',
          math: 'dau',
          math_property: null,
          math_hogql: null,
          math_group_type_index: null,
          properties: {},
        },
        filter: {
          insight: 'TRENDS',
          date_from: '2020-01-01T00:00:00Z',
          date_to: '2020-01-04T23:59:59.999999Z',
          entity_type: 'events',
          interval: 'day',
        },
      },
    ],
    hasMore: false,
    timings: expect.any(Array),
    resolved_date_range: { date_from: '2020-01-01T00:00:00Z', date_to: '2020-01-04T23:59:59.999999Z' },
  })
})

describe('series', () => {
  test.each<[string, object[], unknown[]]>([
    ['all events', [{ kind: 'EventsNode', event: null }], [['All events', [2, 2, 0, 2]]]],
    ['without events: a row of zeros', [{ kind: 'EventsNode', event: 'nothing' }], [['nothing', [0, 0, 0, 0]]]],
    ['an action', [{ kind: 'ActionsNode', id: 5 }], [['Paid', [0, 1, 0, 1]]]],
    ['an action that is gone has no row', [{ kind: 'ActionsNode', id: 6 }, view()], [['view', [2, 1, 0, 1]]]],
    [
      'one of several',
      [{ kind: 'GroupNode', operator: 'OR', nodes: [view(), { kind: 'ActionsNode', id: 5 }] }],
      [['view, Paid', [2, 2, 0, 2]]],
    ],
    [
      'one of several, of which one is gone',
      [{ kind: 'GroupNode', operator: 'OR', nodes: [view(), { kind: 'ActionsNode', id: 6 }] }],
      [['view', [2, 1, 0, 1]]],
    ],
    [
      'all of several',
      [
        {
          kind: 'GroupNode',
          operator: 'AND',
          name: 'both',
          nodes: [{ kind: 'EventsNode', event: null, properties: [{ key: 'price', value: '30' }] }, view()],
        },
      ],
      [['both', [0, 0, 0, 1]]],
    ],
    ['filtered', [view({ properties: [{ type: 'event', key: 'price', value: '10', operator: 'exact' }] })], [['view', [1, 0, 0, 0]]]],
  ])('%s', async (_, series, rows) => {
    expect(await shown({ series })).toEqual(rows)
  })
})

describe('maths', () => {
  test.each<[string, object, number[]]>([
    ['sum of what is a number', { math: 'sum', math_property: 'price' }, [30, 0, 0, 30]],
    ['multiplied', { math: 'sum', math_property: 'price', math_multiplier: 0.5 }, [15, 0, 0, 15]],
    ['median', { math: 'median', math_property: 'price' }, [15, 0, 0, 30]],
    ['an expression', { math: 'hogql', math_hogql: 'count() * 10 + sum(toFloat(properties.price))' }, [50, 0, 0, 40]],
    ['an expression that names the table', { math: 'hogql', math_hogql: 'sum(toFloat(e.properties.price)) / count()' }, [15, 0, 0, 30]],
    [
      'an expression with a parameter of that name',
      { math: 'hogql', math_hogql: 'arraySum(arrayMap(e -> e.1 * 2, [tuple(count(e.uuid), 1)]))' },
      [4, 2, 0, 2],
    ],
    ['an expression over a person', { math: 'hogql', math_hogql: 'uniqExact(person.properties.name)' }, [1, 1, 0, 1]],
    ['a time', { math: 'max', math_property: '$time' }, [1577876400, 1577959200, 0, 1578132000]],
    ['groups', { math: 'unique_group', math_group_type_index: 0 }, [1, 1, 0, 0]],
    ['groups by another name', { math: 'dau', math_group_type_index: 0 }, [1, 1, 0, 0]],
    ['events per actor', { math: 'max_count_per_actor' }, [2, 1, 0, 1]],
    ['first ever', { math: 'first_time_for_user' }, [1, 1, 0, 1]],
    ['first ever must satisfy the filters', { math: 'first_time_for_user', properties: [{ key: 'price', value: '20' }] }, [0, 0, 0, 0]],
    ['the first that satisfies them', { math: 'first_matching_event_for_user', properties: [{ key: 'price', value: '20' }] }, [1, 0, 0, 0]],
    ['people, with a property left over from another math', { math: 'dau', math_property: '$session_duration' }, [1, 1, 0, 1]],
    ['length of a session', { math: 'avg', math_property: '$session_duration' }, [0, 0, 0, 0]],
  ])('%s', async (_, math, data) => {
    expect((await ask({ series: [view(math)] })).results[0]!.data).toEqual(data)
  })

  test('windows of weeks and months by the second', async () => {
    const dateRange = { date_from: '2020-01-04T09:59:59', date_to: '2020-01-04T10:00:01' }
    const series = [view({ math: 'weekly_active' }), view({ math: 'monthly_active' })]
    expect(await shown({ series, dateRange, interval: 'second' })).toEqual([
      ['view', [2, 3, 3]],
      ['view', [2, 3, 3]],
    ])
  })

  test('first ever looks before the range', async () => {
    const query = { series: [view({ math: 'first_time_for_user' })], dateRange: { date_from: '2020-01-02', date_to: '2020-01-04' } }
    expect((await ask(query)).results[0]!.data).toEqual([1, 0, 1])
  })
})

describe('displays', () => {
  test.each<[string, object, unknown[]]>([
    ['a number', { trendsFilter: { display: 'BoldNumber' } }, [['view', 4]]],
    ['running total', { trendsFilter: { display: 'ActionsLineGraphCumulative' } }, [['view', [2, 3, 3, 4]]]],
    ['smoothed', { trendsFilter: { smoothingIntervals: 2 } }, [['view', [2, 1, 0, 0]]]],
    ['by month', { interval: 'month' }, [['view', [4]]]],
    ['by hour', { interval: 'hour', dateRange: { date_from: '2020-01-01T10:00:00', date_to: '2020-01-01T11:30:00' } }, [['view', [1, 1]]]],
    ['open at the end', { dateRange: { date_from: '-1d' } }, [['view', [0, 1]]]],
    ['from the first event', { dateRange: { date_from: 'all' } }, [['view', [2, 1, 0, 1]]]],
  ])('%s', async (_, parts, rows) => {
    expect(await shown({ series: [view()], ...parts })).toEqual(rows)
  })

  test('running total of unique people counts each once', async () => {
    const query = { series: [view({ math: 'dau' })], trendsFilter: { display: 'ActionsLineGraphCumulative' } }
    expect((await ask(query)).results[0]).toMatchObject({ data: [1, 2, 2, 3], count: 3 })
  })

  test('a total has no buckets', async () => {
    expect((await ask({ series: [view()], trendsFilter: { display: 'ActionsTable' } })).results[0]).toMatchObject({
      data: [],
      days: [],
      count: 0,
      aggregated_value: 4,
    })
  })
})

describe('breakdowns', () => {
  const by = (breakdownFilter: object, more: object = {}) =>
    shown({ series: [view()], trendsFilter: { display: 'ActionsTable' }, breakdownFilter, ...more })
  const none = '$$_posthog_breakdown_null_$$'
  test.each<[string, object, unknown[]]>([
    [
      'of persons',
      { breakdown: 'name', breakdown_type: 'person' },
      [
        ['p1', 2],
        ['p2', 1],
        ['p3', 1],
      ],
    ],
    [
      'of groups',
      { breakdown: 'size', breakdown_type: 'group', breakdown_group_type_index: 0 },
      [
        ['10', 3],
        [none, 1],
      ],
    ],
    [
      'of fields',
      { breakdown: 'distinct_id', breakdown_type: 'event_metadata' },
      [
        ['d1', 2],
        ['d2', 1],
        ['d3', 1],
      ],
    ],
    [
      'of an expression',
      { breakdown: 'upper(person.properties.name)', breakdown_type: 'hogql' },
      [
        ['P1', 2],
        ['P2', 1],
        ['P3', 1],
      ],
    ],
    [
      'of true and false',
      { breakdown: 'flag', breakdown_type: 'event' },
      [
        ['true', 2],
        ['false', 1],
        [none, 1],
      ],
    ],
    [
      'of URLs',
      { breakdown: 'url', breakdown_normalize_url: true },
      [
        ['https://x.org/a', 2],
        ['/', 1],
        ['https://x.org/b', 1],
      ],
    ],
    [
      'of cleaned paths',
      { breakdown: 'url', breakdown_path_cleaning: true, breakdown_normalize_url: true },
      [
        ['https://x.org/:page', 3],
        ['/', 1],
      ],
    ],
    [
      'of cohorts',
      { breakdown: [1, 2], breakdown_type: 'cohort' },
      [
        ['cohort 1', 2],
        ['cohort 2', 2],
      ],
    ],
    [
      'of a cohort and all users',
      { breakdown: ['all', 1], breakdown_type: 'cohort' },
      [
        ['view - all users', 4],
        ['view - cohort 1', 2],
      ],
    ],
    ['of cohorts in a list', { breakdowns: [{ property: 2, type: 'cohort' }] }, [['cohort 2', 2]]],
    [
      'of two',
      { breakdowns: [{ property: 'name', type: 'person' }, { property: 'flag' }] },
      [
        ['p1::false', 1],
        ['p1::true', 1],
        ['p3::true', 1],
        [`p2::${none}`, 1],
      ],
    ],
  ])('%s', async (_, filter, rows) => {
    expect(await by(filter)).toEqual(rows)
  })

  test('a limit says that there is more, and hides it when told', async () => {
    const series = [view()]
    const filter = { breakdown: 'name', breakdown_type: 'person', breakdown_limit: 1 }
    const answer = await ask({ series, breakdownFilter: filter })
    expect(answer.results.map((row) => [row.breakdown_value, row.data])).toEqual([
      ['p1', [2, 0, 0, 0]],
      ['$$_posthog_breakdown_other_$$', [0, 1, 0, 1]],
    ])
    expect(answer.hasMore).toBe(true)
    const hidden = await ask({ series, breakdownFilter: { ...filter, breakdown_hide_other_aggregation: true } })
    expect([hidden.results.length, hidden.hasMore]).toEqual([1, true])
  })

  test('labels name the series when there are several, and a series without events has no row', async () => {
    const query = {
      series: [view(), buy(), { kind: 'EventsNode', event: 'nothing' }],
      breakdownFilter: { breakdown: 'name', breakdown_type: 'person', breakdown_limit: 1 },
    }
    expect((await ask(query)).results.map((row) => row.label)).toEqual([
      'view - p1',
      'view - $$_posthog_breakdown_other_$$',
      'buy - p1',
      'buy - $$_posthog_breakdown_other_$$',
    ])
  })

  test('values of cohorts are numbers', async () => {
    const answer = await ask({ series: [view()], breakdownFilter: { breakdown: [1, 'all'], breakdown_type: 'cohort' } })
    expect(answer.results.map((row) => row.breakdown_value)).toEqual([1, 'all'])
  })

  test('nothing in range: no rows', async () => {
    const range = { dateRange: { date_from: '2019-01-01', date_to: '2019-01-02' } }
    expect(await by({ breakdown: 'name', breakdown_type: 'person' }, range)).toEqual([])
    expect(await by({ breakdown: [1], breakdown_type: 'cohort' }, range)).toEqual([])
    expect(await by({ breakdown: 'price', breakdown_histogram_bin_count: 3 }, range)).toEqual([])
  })
})

describe('formulas', () => {
  const formulas = (...texts: string[]) => ({ trendsFilter: { formulaNodes: texts.map((formula) => ({ formula })) } })
  test('of a missing series count zeros', async () => {
    expect(await shown({ series: [view(), { kind: 'ActionsNode', id: 6 }], ...formulas('A + B') })).toEqual([
      ['Formula (A + B)', [2, 1, 0, 1]],
    ])
  })

  test('with a breakdown: one row per value, the largest first, the null bucket last', async () => {
    const answer = await ask({ series: [view(), buy()], breakdownFilter: { breakdown: 'flag' }, ...formulas('A + B', 'B / A') })
    expect(answer.results.map((row) => [row.order, row.label, row.breakdown_value, row.count, row.action])).toEqual([
      [0, 'Formula (A + B)', 'true', 2, null],
      [0, 'Formula (A + B)', 'false', 1, null],
      [0, 'Formula (A + B)', '$$_posthog_breakdown_null_$$', 3, null],
      [1, 'Formula (B / A)', 'true', 0, null],
      [1, 'Formula (B / A)', 'false', 0, null],
      [1, 'Formula (B / A)', '$$_posthog_breakdown_null_$$', 1, null],
    ])
  })
})

describe('the name of a value', () => {
  const shownNames = async (query: object) => (await ask(query)).results.map((row) => [row.label, row.breakdown_label])
  test('of lines and of formulas: no value, the others, several properties, cohorts', async () => {
    const formula = { trendsFilter: { formula: 'A * 2' } }
    const byFlag = { breakdownFilter: { breakdown: 'flag' } }
    expect(await shownNames({ series: [view()], ...byFlag })).toEqual([
      ['true', 'true'],
      ['false', 'false'],
      ['$$_posthog_breakdown_null_$$', '(none)'],
    ])
    expect(await shownNames({ series: [view()], ...byFlag, ...formula })).toEqual([
      ['Formula (A * 2)', 'true'],
      ['Formula (A * 2)', 'false'],
      ['Formula (A * 2)', '(none)'],
    ])
    expect(await shownNames({ series: [view()], breakdownFilter: { breakdown: 'price', breakdown_limit: 1 }, ...formula })).toEqual([
      ['Formula (A * 2)', '10'],
      ['Formula (A * 2)', 'Other'],
    ])
    const two = {
      breakdowns: [
        { property: 'flag', type: 'event' },
        { property: 'price', type: 'event' },
      ],
    }
    expect((await shownNames({ series: [view()], breakdownFilter: two })).map(([, name]) => name)).toContain('(none), x')
    expect((await shownNames({ series: [view()], breakdownFilter: { ...two, breakdown_limit: 1 } })).at(-1)![1]).toBe('Other')
    const cohorts = { breakdownFilter: { breakdown: [1, 'all'], breakdown_type: 'cohort' } }
    const names = (await shownNames({ series: [view()], ...cohorts })).map(([, name]) => name)
    expect(names).toEqual(['cohort 1', 'all users'])
    const ofFormula = (await shownNames({ series: [view()], ...cohorts, ...formula })).map(([, name]) => name)
    expect(ofFormula.toSorted()).toEqual(names.toSorted())
    expect(await shownNames({ series: [view()] })).toEqual([['view', undefined]])
  })
})

describe('compare', () => {
  test('the days of each period are its own', async () => {
    const answer = await ask({
      series: [view()],
      dateRange: { date_from: '2020-01-03', date_to: '2020-01-04' },
      compareFilter: { compare: true },
    })
    expect(answer.results.map((row) => [row.compare, row.compare_label, row.days, row.data])).toEqual([
      [true, 'current', ['2020-01-03', '2020-01-04'], [0, 1]],
      [true, 'previous', ['2020-01-01', '2020-01-02'], [2, 1]],
    ])
    expect(answer.resolved_compare_date_range).toEqual({ date_from: '2020-01-01T00:00:00Z', date_to: '2020-01-02T23:59:59.999999Z' })
  })
})

describe('a sample', () => {
  test('stands for as many more, and the whole is a sample too', async () => {
    const half = (await ask({ series: [view()], samplingFactor: 0.5 })).results[0]!.data!
    expect(half.every((n) => n % 2 === 0)).toBe(true)
    expect((await ask({ series: [view()], samplingFactor: 1 })).results[0]!.data).toEqual([2, 1, 0, 1])
  })
})
