import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { demoEvents } from '../../src/doors/http/commands/demo-events.ts'
import { open, type Project, type Waymark } from '../../src/index.ts'

// Numbers of undeclared properties are compared as numbers, also in a new project with few values.

const now = new Date('2026-02-01T12:00:00Z')
let waymark: Waymark
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => now })
})
afterAll(() => waymark.close())

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const row = async (project: Project, expressions: string, rest = 'from events') =>
  (await project.query({ kind: 'SqlLikeQuery', query: `select ${expressions} ${rest}` })).results[0]

describe('the demo', () => {
  const events = demoEvents(now)
  const purchases = events.filter(({ event }) => event === 'purchase')
  const prices = purchases.map(({ properties }) => properties.price as number)
  const over = (price: number) => prices.filter((one) => one > price).length
  const range = { date_from: '2025-12-01', date_to: '2026-02-01' }
  let project: Project
  beforeAll(async () => {
    project = await waymark.createProject({ name: 'Demo shop' })
    await project.ingest({ batch: events, historical_migration: true })
  })

  test('has fewer prices than a column is given for', () => {
    expect(prices.length).toBeGreaterThan(100)
    expect(prices.length).toBeLessThan(1000)
  })

  test('statements compare and compute', async () => {
    expect(await row(project, 'countIf(properties.price > 5), countIf(properties.price between 5 and 100)')).toEqual([
      over(5),
      prices.filter((price) => price >= 5 && price <= 100).length,
    ])
    const [total, mean, least, most, whole] = (await row(
      project,
      'sum(properties.price), avg(properties.price), min(properties.price), max(properties.price), sum(round(properties.price + 0.001))',
    )) as number[]
    expect([total, mean]).toEqual([expect.closeTo(sum(prices), 6), expect.closeTo(sum(prices) / prices.length, 6)])
    expect([least, most]).toEqual([Math.min(...prices), Math.max(...prices)])
    expect(whole).toBeCloseTo(sum(prices.map((price) => Math.round(price + 0.001))), 6)
  })

  test.each([
    ['gt', 20, over(20)],
    ['lt', 20, prices.filter((price) => price < 20).length],
    ['gt', '5', over(5)],
  ] as const)('a filter price %s %j of a trend and of a funnel', async (operator, value, expected) => {
    const node = { kind: 'EventsNode', event: 'purchase', properties: [{ type: 'event', key: 'price', operator, value }] } as const
    const { results } = await project.query({ kind: 'TrendsQuery', series: [node], dateRange: range })
    expect(sum(results[0]!.data as number[])).toBe(expected)
    const { results: steps } = await project.query({
      kind: 'FunnelsQuery',
      series: [{ kind: 'EventsNode', event: '$pageview' }, node],
      dateRange: range,
    })
    const { results: buyers } = await project.query({
      kind: 'TrendsQuery',
      series: [{ ...node, math: 'dau' }],
      interval: 'year',
      dateRange: range,
    })
    const [, second] = steps as readonly { readonly count: number }[]
    expect(second!.count).toBeGreaterThan(0)
    expect(second!.count).toBeLessThanOrEqual(sum(buyers[0]!.data as number[]))
  })

  test('sums of a trend, in a formula and in bins of a breakdown', async () => {
    const series = [
      { kind: 'EventsNode', event: 'purchase', math: 'sum', math_property: 'price' },
      { kind: 'EventsNode', event: 'purchase', math: 'sum', math_property: 'items' },
    ] as const
    const asked = { kind: 'TrendsQuery', interval: 'year', dateRange: range } as const
    const plain = await project.query({ ...asked, series: [series[0]] })
    expect(sum(plain.results[0]!.data as number[])).toBeCloseTo(sum(prices), 4)
    const display = 'BoldNumber'
    const one = await project.query({ ...asked, series: [...series], trendsFilter: { formula: 'A / B', display } })
    const items = purchases.map(({ properties }) => properties.items as number)
    expect(one.results[0]!.aggregated_value).toBeCloseTo(sum(prices) / sum(items), 6)
    const bins = await project.query({
      ...asked,
      series: [{ kind: 'EventsNode', event: 'purchase' }],
      breakdownFilter: { breakdown: 'price', breakdown_type: 'event', breakdown_histogram_bin_count: 4 },
    })
    expect(bins.results).toHaveLength(4)
    expect(sum(bins.results.map(({ data }) => sum(data as number[])))).toBe(prices.length)
  })
})

describe('persons, groups and sessions', () => {
  let project: Project
  const session = '019c1000-0000-7000-8000-000000000001'
  beforeAll(async () => {
    project = await waymark.createProject({ name: 'Three people' })
    const event = (distinct_id: string, age: unknown, more: object = {}) => ({
      event: 'e',
      distinct_id,
      timestamp: '2026-01-31T10:00:00Z',
      properties: { $set: { age }, ...more },
    })
    await project.importGroups([
      { group_type: 'company', group_key: 'a', properties: { size: 9 } },
      { group_type: 'company', group_key: 'b', properties: { size: 40 } },
    ])
    await project.ingest([
      event('ann', 9, {
        $groups: { company: 'a' },
        $session_id: session,
        $current_url: 'https://x.example/?utm_campaign=21546',
        utm_campaign: 21546,
      }),
      event('bob', 30, { $groups: { company: 'b' } }),
      event('eve', '100', { $groups: { company: 'b' } }),
    ])
  })

  test('are read like events', async () => {
    expect(await row(project, 'sum(person.properties.age), countIf(person.properties.age > 20), max(person.properties.age)')).toEqual([
      139,
      2,
      '100',
    ])
    expect(await row(project, 'sum(group_0.properties.size), countIf(group_0.properties.size > 10)')).toEqual([89, 2])
    expect(await row(project, 'countIf(properties.age > 20)', 'from persons')).toEqual([2])
    expect(await row(project, 'any($entry_utm_campaign), countIf($entry_utm_campaign > 21545)', 'from sessions')).toEqual(['21546', 1])
  })

  test.each([
    ['person', 'age', 99, 1],
    ['group', 'size', 20, 2],
  ] as const)('a filter of a %s property', async (type, key, value, expected) => {
    const filter = { type, key, operator: 'gt', value, ...(type === 'group' ? { group_type_index: 0 } : {}) } as const
    const { results } = await project.query({
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'e', properties: [filter] }],
      dateRange: { date_from: '2026-01-31', date_to: '2026-01-31' },
    })
    expect(results[0]!.data).toEqual([expected])
  })
})

test('an answer says how many values were passed over, and of which property', async () => {
  const project = await waymark.createProject({ name: 'Mixed' })
  const prices = [5, '7', 'free', true, null]
  await project.ingest(
    prices.map((price) => ({ event: 'buy', distinct_id: 'u', timestamp: '2026-01-31T10:00:00Z', properties: { price, at: 'soon' } })),
  )
  const ask = (query: string) => project.query({ kind: 'SqlLikeQuery', query })
  const summed = await ask('select sum(properties.price) from events')
  expect(summed.results).toEqual([[12]])
  expect(summed.warnings).toEqual([
    {
      code: 'not-numbers',
      property: 'price',
      scope: 'event',
      type: 'Numeric',
      count: 2,
      message: expect.stringContaining('Of the 4 values received for the event property "price", 2 are'),
    },
  ])
  expect((await ask('select toYear(properties.at) from events')).warnings).toMatchObject([{ code: 'not-times', property: 'at', count: 5 }])
  for (const query of ['select properties.price from events', 'select properties.price, count() from events group by 1 order by 1'])
    expect(await ask(query)).not.toHaveProperty('warnings')
  const filter = { type: 'event', key: 'price', operator: 'gt', value: 6 } as const
  const trend = await project.query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'buy', properties: [filter] }] })
  expect(trend).toMatchObject({ warnings: [{ property: 'price', count: 2 }] })
})

test('where a boolean is asked for, numbers are told of', async () => {
  const project = await waymark.createProject({ name: 'Flags' })
  const flags = [1, 0, true, 'true', 'yes']
  await project.ingest(
    flags.map((paid) => ({ event: 'e', distinct_id: 'u', timestamp: '2026-01-31T10:00:00Z', properties: { paid, is: true } })),
  )
  const ask = (expression: string) => project.query({ kind: 'SqlLikeQuery', query: `select ${expression} from events` })
  for (const expression of ['countIf(properties.paid)', 'countIf(properties.paid = true)']) {
    const { results, warnings } = await ask(expression)
    expect(results, expression).toEqual([[2]])
    expect(warnings, expression).toMatchObject([
      { code: 'not-booleans', property: 'paid', type: 'Boolean', count: 2, message: expect.stringContaining('"paid", 2 are numbers') },
    ])
  }
  expect(await ask('countIf(properties.is)')).not.toHaveProperty('warnings')
  expect((await ask('countIf(properties.paid = 1)')).results).toEqual([[1]])
})

describe('numbers in lists are texts, and where their order counts an answer says so', () => {
  let project: Project
  beforeAll(async () => {
    project = await waymark.createProject({ name: 'Lists' })
    const values = [9, 10, 100, '01']
    await project.ingest(
      values.map((n) => ({ event: 'e', distinct_id: 'u', timestamp: '2026-01-31T10:00:00Z', properties: { n, word: 'x' } })),
    )
  })
  const warned = async (expression: string) =>
    (await project.query({ kind: 'SqlLikeQuery', query: `select ${expression} from events` })).warnings

  test.each([
    ['arraySort(groupArray(properties.n))', 'arraySort'],
    ['arrayReverseSort(x -> x, groupArray(properties.n))', 'arrayReverseSort'],
    ['arrayMax(groupArray(properties.n))', 'arrayMax'],
    ['arrayMin(arrayMap(t -> t.1, groupArray((properties.n, event))))', 'arrayMin'],
    ["arrayReduce('max', groupArray(properties.n))", 'arrayReduce'],
    ["maxMap(map('a', properties.n))", 'maxMap'],
    ['maxArrayIf([properties.n], true)', 'maxArrayIf'],
    ['max((properties.n, event))', 'max'],
  ])('%s', async (expression, name) => {
    expect(await warned(expression)).toEqual([
      {
        code: 'ordered-as-texts',
        property: 'n',
        scope: 'event',
        count: 3,
        function: name,
        message: `Of the 4 values received for the event property "n", 3 are numbers, and '${name}' sorts them as text: '100' before '9'. Convert them with toFloat before they go into an array.`,
      },
    ])
  })

  test.each([
    'arraySort(groupArray(toFloat(properties.n)))',
    'arraySort(x -> toFloat(x), groupArray(properties.n))',
    'arraySort(groupArray(toString(properties.n)))',
    'arraySort(groupArray(properties.word))',
    'arrayReverse(groupArray(properties.n))',
    "arrayReduce('uniq', groupArray(properties.n))",
    'max(properties.n), min(properties.n)',
  ])('not: %s', async (expression) => {
    expect((await warned(expression))?.filter(({ code }) => code === 'ordered-as-texts') ?? []).toEqual([])
  })
})

test('a property of a group is said of the type that the groups are called by', async () => {
  const project = await waymark.createProject({ name: 'Groups' })
  await project.ingest([
    {
      event: '$groupidentify',
      distinct_id: 'u',
      timestamp: '2026-01-31T10:00:00Z',
      properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 'large' } },
    },
    { event: 'buy', distinct_id: 'u', timestamp: '2026-01-31T10:00:00Z', properties: { $groups: { company: 'acme' } } },
  ])
  const ask = (query: string) => project.query({ kind: 'SqlLikeQuery', query })
  expect((await ask('select sum(company.properties.size) from events')).warnings).toMatchObject([
    { code: 'not-numbers', scope: 'company', message: expect.stringContaining('values received for the company property "size"') },
  ])
  expect((await ask('select company.properties.sise from events')).warnings).toMatchObject([
    { code: 'unknown-property', scope: 'company', suggestions: ['size'], message: expect.stringContaining('No company has ever had') },
  ])
})
