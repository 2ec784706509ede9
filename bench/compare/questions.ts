// What two revisions are asked. Only what the library promises is used: a path inside of src/ may be another one at the revision.

export interface Question {
  readonly what: string
  readonly query: { readonly kind: string } & Readonly<Record<string, unknown>>
}

const range = { dateRange: { date_from: '2026-01-02', date_to: '2026-03-31' } }
const series = (...events: string[]) => events.map((event) => ({ kind: 'EventsNode', event }))
const trend = (what: string, more: Readonly<Record<string, unknown>> = {}): Question => ({
  what: `trends: ${what}`,
  query: { kind: 'TrendsQuery', series: series('$pageview'), ...range, ...more },
})
const counted = (math: Readonly<Record<string, unknown>>) => ({ series: [{ kind: 'EventsNode', event: '$pageview', ...math }] })
const funnel = (what: string, steps: readonly string[], more: Readonly<Record<string, unknown>> = {}): Question => ({
  what: `funnels: ${what}`,
  query: {
    kind: 'FunnelsQuery',
    series: series(...steps),
    ...range,
    funnelsFilter: { funnelWindowInterval: 7, funnelWindowIntervalUnit: 'day', ...more },
  },
})
const sql = (what: string, query: string): Question => ({ what, query: { kind: 'SqlLikeQuery', query } })

const repeated = (count: number, write: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(between)
/** No row is read: what is measured is the way from the text to the engine. */
const compiled = (what: string, statement: string): Question => sql(`compile: ${what}`, statement)
const perRow = (what: string, value: string): Question =>
  sql(
    `functions: ${what}`,
    `select max(length(toString(${value}))) from (select number as n, toString(number * 7919) as t from numbers(20000))`,
  )

export const questions: readonly Question[] = [
  trend('count per day'),
  trend('unique people per day', counted({ math: 'dau' })),
  trend('weekly active people', counted({ math: 'weekly_active' })),
  trend('breakdown by a property', { breakdownFilter: { breakdown: 'country', breakdown_type: 'event' } }),
  trend('sum of a number', counted({ math: 'sum', math_property: 'amount' })),
  funnel('3 steps', ['$pageview', 'signed up', 'purchase']),
  funnel('5 steps', ['$pageview', '$autocapture', 'signed up', 'added to cart', 'purchase']),
  funnel('3 steps, unordered', ['$pageview', 'signed up', 'purchase'], { funnelOrderType: 'unordered' }),
  funnel('3 steps by day', ['$pageview', 'signed up', 'purchase'], { funnelVizType: 'trends' }),
  compiled(
    'a small statement',
    "select event, count() from events where event = 'none' and timestamp > now() - interval 7 day group by event limit 10",
  ),
  compiled(
    '500 columns with aliases that others use',
    `select ${repeated(500, (i) => (i % 10 ? `a${i - 1} + 1 as a${i}` : `${i} as a${i}`), ', ')}`,
  ),
  compiled('IN of 2,000 texts', `select count() from events where event in (${repeated(2000, (i) => `'e${i}'`, ', ')})`),
  compiled(
    'CASE of 300 branches',
    `select case ${repeated(300, (i) => `when event = 'e${i}' then ${i}`, ' ')} end from events where event = 'none'`,
  ),
  perRow('text', "concat(upper(t), substring(t, 2, 3), replaceAll(t, '7', 'x'))"),
  perRow('dates', "formatDateTime(toStartOfWeek(toDateTime('2024-01-01') + toIntervalHour(n)), '%Y-%m-%d')"),
  perRow('arrays', 'arraySum(arrayMap(x -> x * 2, range(n % 20)))'),
  perRow('JSON', `JSONExtractString(concat('{"a":"', t, '"}'), 'a')`),
]
