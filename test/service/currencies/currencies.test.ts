import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { checkedRates } from '../../../src/service/currencies/read-rates.ts'
import { sampleRates } from '../../../src/service/currencies/sample-rates.ts'
import { events, rates, statements } from './cases.ts'

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
