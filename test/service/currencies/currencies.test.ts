import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { checkedRates } from '../../../src/service/currencies/read-rates.ts'
import { sampleRates } from '../../../src/service/currencies/sample-rates.ts'
import { events, merged, persons, rates, revenues, statements } from './cases.ts'

// Amounts in one currency, on DuckDB. ClickHouse: test/clickhouse/currencies.test.ts.

const sql = (query: string) => ({ kind: 'SqlLikeQuery', query }) as const
let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', currencyRates: rates })
  project = await waymark.createProject({ name: 'Shop' })
  await project.ingest({ batch: events })
})
afterAll(() => waymark.close())

test.each(statements)('%s', async (query, rows) => {
  expect((await project.query(sql(query))).results).toEqual(rows)
})

const series = (currency: object, more: object = {}) => ({
  kind: 'TrendsQuery' as const,
  dateRange: { date_from: '2026-01-01', date_to: '2026-03-31' },
  interval: 'month' as const,
  series: [
    {
      kind: 'EventsNode' as const,
      event: 'order',
      math: 'sum' as const,
      math_property: '$revenue',
      math_property_revenue_currency: currency,
      ...more,
    },
  ],
})
const dataOf = async (of: LocalProject, query: object) =>
  ((await of.query(query as ReturnType<typeof series>)).results as unknown as { data: number[] }[]).map(({ data }) => data)

test('a trend sums a property in the currency of the project, by the currency of each event or by a fixed one', async () => {
  expect(await dataOf(project, series({ property: '$currency' }))).toEqual([[130, 7 * (1 / 0.7), 7].map((one) => expect.closeTo(one, 9))])
  expect(await dataOf(project, series({ static: 'EUR' }))).toEqual([
    [(8 + 8) * 1.25 + (9 + 50) * (1 / 0.9), 7 * (1 / 1.1), 1308 * (1 / 1.1)].map((one) => expect.closeTo(one, 9)),
  ])
  const british = await waymark.createProject({ name: 'British', base_currency: 'GBP' })
  await british.ingest({ batch: events })
  expect(await dataOf(british, series({ property: '$currency' }))).toEqual([
    [16 * (0.5 / 0.8) + 9 * (0.5 / 0.9) + 50, 7, 2 * 0.7 + 5 * 0.7 - 2 * 0.7 + 300 * (0.7 / 150)].map((one) => expect.closeTo(one, 9)),
  ])
  expect(await dataOf(british, series({ static: 'GBP' }))).toEqual([[75, 7, 1308]])
})

test('without rates, other currencies are refused by name', async () => {
  await using without = await open({ dataDir: ':memory:' })
  const shop = await without.createProject({ name: 'Shop' })
  const failure = { code: 'unsupported-function', message: expect.stringContaining('its operator gives them with --currency-rates') }
  await expect(shop.query(sql("select convertCurrency('EUR', 'USD', 1)"))).rejects.toMatchObject(failure)
  expect((await shop.query(sql("select convertCurrency('EUR', 'EUR', 1), convertCurrency('BOGUS', 'EUR', 1)"))).results).toEqual([[1, 0]])
})

test('the engine in a process of its own has the rates', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-rates-'))
  try {
    await writeFile(join(folder, 'rates.json'), `\ufeff${JSON.stringify(rates)}`)
    await using isolated = await open({ dataDir: join(folder, 'data'), isolate: true, currencyRates: join(folder, 'rates.json') })
    const shop = await isolated.createProject({ name: 'Shop' })
    await shop.ingest({ batch: events })
    for (const [query, rows] of statements) expect((await shop.query(sql(query))).results, query).toEqual(rows)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)

test('many rates are a statement that is answered', async () => {
  const days = Object.fromEntries(
    Array.from({ length: 322 }, (_, i) => [
      new Date(Date.UTC(2000, 0, 1 + 36 * i)).toISOString().slice(0, 10),
      Object.fromEntries(
        Array.from({ length: 30 }, (_, n) => [`C${String.fromCharCode(65 + n / 26, 65 + (n % 26))}`, 1 + i / 322 + n / 7]),
      ),
    ]),
  )
  await using large = await open({ dataDir: ':memory:', currencyRates: { base: 'USD', rates: days } })
  const shop = await large.createProject({ name: 'Shop' })
  await shop.ingest({
    batch: Array.from({ length: 500 }, (_, i) => ({ event: 'e', distinct_id: 'u', properties: { c: i % 2 ? 'CAB' : 'CBA' } })),
  })
  const query = "select sum(convertCurrency(properties.c, 'USD', 1, toDate('2026-01-12'))) from events"
  const [[sum]] = (await shop.query(sql(query))).results as [[number]]
  expect(sum).toBeCloseTo(250 / (1 + 264 / 322 + 1 / 7) + 250 / (1 + 264 / 322 + 26 / 7), 6)
})

describe('what is wrong with a file of rates is said at the start', () => {
  let folder = ''
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test.each([
    ['{', /is not valid JSON/],
    ['[]', /^The exchange rates must be an object \{ "base", "rates" \}, but are \[\]\.$/],
    ['{"base": "USD"}', /^rates must be an object/],
    ['{"base": "usd", "rates": {"EUR": 1}}', /^base must be the code of a currency, such as "USD", but is "usd"\.$/],
    ['{"base": "USD", "rates": {}}', /^rates must be an object/],
    ['{"base": "USD", "rates": {"EUR": "1"}}', /^rates\.EUR must be a number above 0, but is "1"\.$/],
    ['{"base": "USD", "rates": {"EUR": 0}}', /^rates\.EUR must be a number above 0, but is 0\.$/],
    ['{"base": "USD", "rates": {"USD": 2}}', /^rates\.USD must be 1, because USD is the base, but is 2\.$/],
    ['{"base": "USD", "rates": {"euro": 2}}', /^rates has the currency "euro": write a code of 3 to 8 capital letters, such as EUR\.$/],
    ['{"base": "USD", "rates": {"2026-01-01": {"EUR": 1}, "EUR": 1}}', /^rates has the day "EUR"/],
    ['{"base": "USD", "rates": {"2026-02-30": {"EUR": 1}}}', /^rates has the day "2026-02-30"/],
    ['{"base": "USD", "rates": {"2026-01-01": {"EUR": -1}}}', /^rates\.2026-01-01\.EUR must be a number above 0/],
    ['{"base": "USD", "rates": {"1970-01-01": {"EUR": 1}, "2026-01-01": {"EUR": 1}}}', /are of 20455 days/],
    ['{"base": "USD", "rates": {"EUR": 1}, "date": 1}', /^The exchange rates have the field "date"/],
  ])('%s', async (text, message) => {
    folder = await mkdtemp(join(tmpdir(), 'waymark-rates-'))
    await writeFile(join(folder, 'rates.json'), text)
    await expect(open({ dataDir: join(folder, 'data'), currencyRates: join(folder, 'rates.json') })).rejects.toMatchObject({
      code: 'validation-failed',
      attr: 'currencyRates',
      detail: expect.stringMatching(message),
    })
    // The directory is not in use.
    await (await open({ dataDir: join(folder, 'data') })).close()
  })

  test('a file that is missing, and too many rates', async () => {
    await expect(open({ dataDir: ':memory:', currencyRates: '/missing.json' })).rejects.toMatchObject({
      attr: 'currencyRates',
      detail: expect.stringMatching(/^The file of exchange rates cannot be read: ENOENT/),
    })
    const day = (i: number) => new Date(Date.UTC(2000, 0, 1 + i)).toISOString().slice(0, 10)
    const many = Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [day(i), { EUR: 1 + i }]))
    expect(() => checkedRates({ base: 'USD', rates: many })).toThrow(/2 currencies on 5001 days, which is more than 10000 rates/)
  })

  test('the sample has every currency that a project can have', async () => {
    const { rates: all } = checkedRates(sampleRates)
    for (const code of ['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CAD', 'AUD', 'CNY', 'INR', 'BRL']) expect(all[code], code).toHaveLength(1)
  })
})

describe('what a person has paid, $virt_revenue', () => {
  let shop: LocalProject
  beforeAll(async () => {
    shop = await waymark.createProject({ name: 'Of persons' })
    await shop.ingest({ batch: persons })
    await shop.ingest({ batch: merged })
  })

  test.each(revenues)('%s', async (query, rows) => {
    expect((await shop.query(sql(query))).results).toEqual(rows)
  })

  const filter = (operator: string, value: number) => ({ key: '$virt_revenue', type: 'person', operator, value })
  const counted = async (of: LocalProject, properties: readonly object[], more: object = {}) =>
    (
      (await of.query({
        kind: 'TrendsQuery',
        dateRange: { date_from: '2026-01-01', date_to: '2026-12-31' },
        interval: 'year',
        series: [{ kind: 'EventsNode', event: null, math: 'dau', properties }],
        ...more,
      } as never)) as unknown as { results: { data: number[]; breakdown_value?: unknown }[] }
    ).results

  test('filters of trends, of lists of persons and of funnels', async () => {
    const [above] = await counted(shop, [filter('gte', 20)])
    expect(above!.data).toEqual([2])
    const [below] = await counted(shop, [filter('lt', 20)])
    expect(below!.data).toEqual([3])
    const list = (await shop.query({ kind: 'ActorsQuery', properties: [filter('gt', 15)] } as never)) as unknown as { results: unknown[] }
    expect(list.results).toHaveLength(2)
    const funnel = (await shop.query({
      kind: 'FunnelsQuery',
      dateRange: { date_from: '2026-01-01', date_to: '2026-12-31' },
      series: [
        { kind: 'EventsNode', event: 'order' },
        { kind: 'EventsNode', event: 'order' },
      ],
      properties: [filter('gt', 100)],
    } as never)) as unknown as { results: { count: number }[] }
    expect(funnel.results.map(({ count }) => count)).toEqual([1, 1])
  })

  test('a breakdown', async () => {
    const found = await counted(shop, [], { breakdownFilter: { breakdown: '$virt_revenue', breakdown_type: 'person' } })
    expect(found.map(({ breakdown_value, data }) => [Number(breakdown_value), data[0]]).sort((a, b) => a[0]! - b[0]!)).toEqual([
      [0, 2],
      [10, 1],
      [20, 1],
      [120.5, 1],
    ])
  })

  test('a new event counts at once, although the person does not change: the same question, again and again', async () => {
    const own = await waymark.createProject({ name: 'Growing' })
    const big = Array.from({ length: 3_000 }, (_, i) => ({
      event: 'visit',
      distinct_id: `u${i % 300}`,
      timestamp: '2026-03-01T10:00:00Z',
      properties: { $set: { plan: 'free' } },
    }))
    await own.ingest({ batch: big })
    // The lists in memory do not keep what changes with events.
    await expect(counted(own, [filter('gte', 10)], { modifiers: { road: 'lists' } })).rejects.toThrow(/road/)
    for (let i = 0; i < 4; i++) {
      expect((await counted(own, [filter('gte', 10)]))[0]?.data ?? [0]).toEqual([i])
      expect((await own.query(sql('select count() from persons where $virt_revenue >= 10'))).results).toEqual([[i]])
      await own.ingest({
        batch: [
          { event: 'order', distinct_id: `u${i}`, timestamp: '2026-03-02T10:00:00Z', properties: { $revenue: 8, $currency: 'EUR' } },
        ].concat([
          { event: 'order', distinct_id: `u${i}`, timestamp: '2026-03-02T10:00:00Z', properties: { $revenue: 3, $currency: 'USD' } },
        ]),
      })
    }
  })

  test('a cohort has those whose events make them a member, at each question', async () => {
    const own = await waymark.createProject({ name: 'Cohorts' })
    const paid = (distinct_id: string, amount: number) => ({
      event: 'order',
      distinct_id,
      timestamp: '2026-01-11T10:00:00Z',
      properties: { $revenue: amount, $currency: 'USD' },
    })
    await own.ingest({ batch: [paid('a', 5), paid('b', 50)] })
    const { id } = await own.createCohort({
      name: 'Customers',
      filters: { properties: { type: 'AND', values: [{ key: '$virt_revenue', type: 'person', operator: 'gte', value: 10 }] } },
    })
    const members = async () => (await own.query(sql(`select count() from persons where id in cohort ${id}`))).results
    expect(await members()).toEqual([[1]])
    await own.ingest({ batch: [paid('a', 4.99)] })
    expect(await members()).toEqual([[1]])
    await own.ingest({ batch: [paid('a', 0.01)] })
    expect(await members()).toEqual([[2]])
    await own.ingest({ batch: [paid('b', -45)] })
    expect(await members()).toEqual([[1]])
    expect((await counted(own, [{ key: 'id', type: 'cohort', value: id }]))[0]!.data).toEqual([1])
  })

  test('amounts that are too large are left out, and each counts to four digits', async () => {
    const own = await waymark.createProject({ name: 'Odd' })
    const paid = (amount: unknown) => ({
      event: 'order',
      distinct_id: 'u',
      timestamp: '2026-01-11T10:00:00Z',
      properties: { $revenue: amount },
    })
    await own.ingest({ batch: [1e300, '12.34', 0.1, 0.2, -5, 0.00004, null, true, 'x'].map(paid) })
    expect((await own.query(sql('select $virt_revenue from persons'))).results).toEqual([[7.64]])
  })

  test('events themselves have none', async () => {
    await expect(shop.query(sql('select $virt_revenue from events'))).rejects.toMatchObject({
      code: 'unknown-field',
      message: expect.stringContaining('$virt_revenue'),
    })
    // The table behind it has no name that a statement could write.
    const schema = await shop.query({ kind: 'DatabaseSchemaQuery' } as never)
    expect(JSON.stringify(schema)).not.toMatch(/@revenue|person_revenue/)
    const misspelled = shop.query(sql('select revenue from persons'))
    await expect(misspelled).rejects.toMatchObject({ message: expect.not.stringContaining('@') })
  })

  test('it is in the currency of the project, and refused without rates', async () => {
    const british = await waymark.createProject({ name: 'British persons', base_currency: 'GBP' })
    await british.ingest({ batch: persons.filter(({ distinct_id }) => distinct_id === 'ann') })
    expect((await british.query(sql('select $virt_revenue from persons'))).results).toEqual([[10]])
    await using without = await open({ dataDir: ':memory:' })
    const none = await without.createProject({ name: 'None' })
    await none.ingest({ batch: persons })
    await expect(none.query(sql('select $virt_revenue from persons'))).rejects.toMatchObject({ code: 'unsupported-function' })
  })
})
