import type { CurrencyRatesFile } from '../../../src/service/currencies/read-rates.ts'

// Amounts in several currencies, and what they are in one. The same on DuckDB and on ClickHouse, to the last bit.

/** By day, with gaps: a rate counts until the next one, and the first one before it. */
export const rates: CurrencyRatesFile = {
  base: 'USD',
  rates: {
    '2026-01-10': { EUR: 0.8, GBP: 0.5, JPY: 150 },
    '2026-01-12': { EUR: 0.9 },
    '2026-02-01': { EUR: 1.1, GBP: 0.7 },
  },
}

const order = (distinct_id: string, day: string, amount: unknown, currency?: string) => ({
  event: 'order',
  distinct_id,
  timestamp: `${day}T10:00:00Z`,
  properties: { $revenue: amount, ...(currency !== undefined && { $currency: currency }) },
})

export const events = [
  order('ann', '2026-01-05', 8, 'EUR'), // before the first rate: 10 USD
  order('ann', '2026-01-10', 8, 'eur'), // 10 USD
  order('bob', '2026-01-12', 9, 'EUR'), // 10 USD
  order('bob', '2026-01-31', 50, 'GBP'), // 100 USD
  order('bob', '2026-02-01', 7, 'GBP'), // 10 USD
  order('cid', '2026-03-01', 300, 'JPY'), // the rate of January: 2 USD
  order('cid', '2026-03-01', 5, 'USD'),
  order('cid', '2026-03-01', 1000, 'XXX'), // unknown: 0
  order('cid', '2026-03-02', 3), // without a currency
  order('dan', '2026-03-02', 'a lot', 'EUR'), // no number
]

const usd = (currency: string) => `convertCurrency(properties.$currency, '${currency}', toFloat(properties.$revenue), toDate(timestamp))`

/** A statement, and its rows. */
export const statements: readonly (readonly [query: string, rows: readonly (readonly unknown[])[]])[] = [
  ["select convertCurrency('EUR', 'USD', 8, toDate('2026-01-11'))", [[10]]],
  ["select convertCurrency('EUR', 'USD', 9, toDate('2026-01-12'))", [[9 * (1 / 0.9)]]],
  ["select convertCurrency('eur', 'gbp', 8, toDate('2020-01-01'))", [[8 * (0.5 / 0.8)]]],
  ["select convertCurrency('EUR', 'GBP', 11, toDate('2030-01-01'))", [[11 * (0.7 / 1.1)]]],
  ["select convertCurrency('EUR', 'EUR', 0.1, toDate('2026-01-12'))", [[0.1]]],
  ["select convertCurrency('EUR', 'XXX', 5, toDate('2026-01-12')), convertCurrency('CHF', 'EUR', 5)", [[0, 0]]],
  ["select convertCurrency('JPY', 'USD', 150)", [[1]]], // today
  ["select convertCurrency('EUR', 'USD', 8, toDateTime('2026-01-11 23:59:59'))", [[10]]],
  ["select convertCurrency('EUR', 'USD', null, toDate('2026-01-12')), convertCurrency(null, 'USD', 5)", [[null, 0]]],
  [
    `select ${usd('USD')} from events order by timestamp, toFloat(properties.$revenue)`,
    [[10], [10], [9 * (1 / 0.9)], [100], [7 * (1 / 0.7)], [5], [300 * (1 / 150)], [0], [0], [null]],
  ],
  [
    `select ${usd('GBP')} from events where properties.$currency = 'GBP' order by timestamp`, // the same currency: as it was
    [[50], [7]],
  ],
  [
    "select convertCurrency(a, b, 6, d) from (select arrayJoin(['EUR', 'JPY', '?']) a, 'GBP' b, toDate('2026-01-12') d) order by a",
    [[0], [6 * (0.5 / 0.9)], [6 * (0.5 / 150)]],
  ],
]

/** Of persons: ann 20, bob 10 + 100 + 10, cid 2 + 5 + 0 + 3, dan and eve nothing. Rounded to four digits. */
export const persons = [...events, { event: 'visit', distinct_id: 'eve', timestamp: '2026-03-02T10:00:00Z', properties: {} }]
/** Bob used to be somebody else, too: what that one has paid is his. */
export const merged = [
  order('old bob', '2026-03-02', 0.5, 'USD'),
  { event: '$identify', distinct_id: 'bob', timestamp: '2026-03-02T11:00:00Z', properties: { $anon_distinct_id: 'old bob' } },
]
export const revenues: readonly (readonly [query: string, rows: readonly (readonly unknown[])[]])[] = [
  [
    'select distinct distinct_id, person.$virt_revenue from events order by distinct_id',
    [
      ['ann', 20],
      ['bob', 120.5],
      ['cid', 10],
      ['dan', 0],
      ['eve', 0],
      ['old bob', 120.5],
    ],
  ],
  ['select $virt_revenue from persons order by 1', [[0], [0], [10], [20], [120.5]]],
  ['select properties.$virt_revenue from persons order by 1', [[0], [0], [10], [20], [120.5]]],
  ['select sum(p.$virt_revenue), count() from persons p where p.$virt_revenue > 0', [[150.5, 3]]],
  ['select distinct person.properties.$virt_revenue from events where person.properties.$virt_revenue >= 20 order by 1', [[20], [120.5]]],
  [
    'select event, sum(person.$virt_revenue) from events where person.$virt_revenue < 20 group by event order by event',
    [
      ['order', 40],
      ['visit', 0],
    ],
  ],
]
