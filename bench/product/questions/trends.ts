import type { TrendsResponse } from 'waymark'
import type { Rows } from '../contender.ts'
import { type DuckdbLayout, dateRange, inRange, type Layout, type Question } from '../question.ts'

const event = '$pageview'
const node = (math: object = {}, name = event) => ({ kind: 'EventsNode', event: name, ...math }) as const
const noValue = '$$_posthog_breakdown_null_$$'

/** Day, the value of the breakdown where there is one, number. */
function chartRows({ results }: TrendsResponse): Rows {
  return results.flatMap(({ data, days, breakdown_value }) =>
    (data ?? []).map((value, i) => [days![i]!, ...(breakdown_value === undefined ? [] : [textOf(breakdown_value)]), value]),
  )
}
const textOf = (value: unknown): string => {
  const text = String(Array.isArray(value) ? value[0] : value)
  return text === noValue ? '' : text
}

interface Chart {
  readonly name: string
  readonly series: readonly ReturnType<typeof node>[]
  readonly more?: object
  /** The number of a day. */
  clickhouse(layout: Layout): string
  duckdb(layout: DuckdbLayout): string
  /** Texts that the rows are also grouped by. */
  readonly by?: string
  readonly where?: (layout: Layout) => string
  readonly events?: readonly string[]
}

const chart = ({ name, series, more, clickhouse, duckdb, by, where, events = [event] }: Chart): Question => {
  const statement = (day: string, number: string, layout: Layout) => {
    const value = by ? `, coalesce(${layout.text(by)}, '') AS value` : ''
    const condition = `event IN (${events.map(layout.event).join(', ')}) AND ${inRange}${where ? ` AND ${where(layout)}` : ''}`
    return `SELECT ${day} AS day${value}, ${number} AS n FROM events WHERE ${condition} GROUP BY day${by ? ', value' : ''}`
  }
  return {
    name,
    waymark: {
      query: () => ({ kind: 'TrendsQuery', series, dateRange, interval: 'day', ...more }),
      rows: chartRows,
    },
    clickhouse: (layout) => statement('toDate(timestamp)', clickhouse(layout), layout),
    duckdb: (layout) => statement('timestamp::DATE', duckdb(layout), layout),
  }
}

const breakdown = (name: string, property: string) =>
  chart({
    name,
    series: [node()],
    more: { breakdownFilter: { breakdown: property, breakdown_type: 'event' } },
    by: property,
    clickhouse: () => 'count()',
    duckdb: () => 'count(*)',
  })

/** Which of all persons a day has, as bits: faster than a set of numbers. */
const bits = ({ person, people }: DuckdbLayout) => `bitstring_agg(${person}::INTEGER, 0, ${people - 1})`

const weekly: Question = {
  name: 'weekly active persons',
  waymark: {
    query: () => ({ kind: 'TrendsQuery', series: [node({ math: 'weekly_active' })], dateRange, interval: 'day' }),
    rows: chartRows,
  },
  clickhouse: ({ person, event: code }) => `SELECT k, uniqExactMerge(state) AS n
    FROM (SELECT toDate(timestamp) AS day, uniqExactState(${person}) AS state FROM events
      WHERE event = ${code(event)} AND timestamp >= '2025-12-27 00:00:00' AND timestamp < '2026-04-01 00:00:00' GROUP BY day)
    ARRAY JOIN arrayMap(i -> day + i, range(7)) AS k
    WHERE k BETWEEN '${dateRange.date_from}' AND '${dateRange.date_to}' GROUP BY k`,
  duckdb: (layout) => `SELECT k AS day, bit_count(bit_or(persons)) AS n
    FROM (SELECT timestamp::DATE AS day, ${bits(layout)} AS persons FROM events
      WHERE event = ${layout.event(event)} AND timestamp >= '2025-12-27 00:00:00' AND timestamp < '2026-04-01 00:00:00' GROUP BY ALL),
      range(7) later(i), LATERAL (SELECT (day + i::INTEGER) AS k)
    WHERE k BETWEEN '${dateRange.date_from}' AND '${dateRange.date_to}' GROUP BY k`,
}

export const trends: readonly Question[] = [
  chart({ name: 'count per day', series: [node()], clickhouse: () => 'count()', duckdb: () => 'count(*)' }),
  chart({
    name: 'unique persons per day',
    series: [node({ math: 'dau' })],
    clickhouse: ({ person }) => `uniqExact(${person})`,
    duckdb: (layout) => `bit_count(${bits(layout)})`,
  }),
  weekly,
  breakdown('breakdown by a common property', '$browser'),
  breakdown('breakdown by a rare property', 'campaign'),
  chart({
    name: 'text filter',
    series: [node({ properties: [{ key: '$current_url', value: 'Section-17/', operator: 'icontains', type: 'event' }] })],
    where: ({ text }) => `${text('$current_url')} ILIKE '%Section-17/%'`,
    clickhouse: () => 'count()',
    duckdb: () => 'count(*)',
  }),
  chart({
    name: 'sum of a number',
    series: [node({ math: 'sum', math_property: 'amount' })],
    clickhouse: ({ number }) => `sum(${number('amount')})`,
    duckdb: ({ number }) => `sum(${number('amount')})`,
  }),
  chart({
    name: 'p95 of a number',
    series: [node({ math: 'p95', math_property: 'amount' })],
    clickhouse: ({ number }) => `quantileExactInclusive(0.95)(${number('amount')})`,
    duckdb: ({ number }) => `quantile_cont(${number('amount')}, 0.95)`,
  }),
  chart({
    name: 'formula of two series',
    series: [node({}, 'purchased'), node()],
    more: { trendsFilter: { formulaNodes: [{ formula: '100 * A / B' }] } },
    events: ['purchased', event],
    clickhouse: ({ event: code }) =>
      `if(countIf(event = ${code(event)}) = 0, 0, 100 * countIf(event = ${code('purchased')}) / countIf(event = ${code(event)}))`,
    duckdb: ({ event: code }) =>
      `coalesce(100 * count(*) FILTER (event = ${code('purchased')}) / nullif(count(*) FILTER (event = ${code(event)}), 0), 0)`,
  }),
]
