import type { RetentionResponse, StickinessResponse } from 'waymark'
import type { Rows } from '../contender.ts'
import type { Layout, Question } from '../question.ts'

// Those who did the first event in an interval, and in how many of the intervals after it they did the second one; and on how many days they came.

const [began, returned] = ['$pageview', 'added to cart']

interface Asked {
  readonly name: string
  readonly period: 'Day' | 'Week'
  readonly intervals: number
  /** The first day, and the one after the last. */
  readonly days: readonly [from: string, until: string]
  /** The first day of an event's interval. */
  readonly clickhouse: string
  readonly duckdb: string
}

/** A join of the intervals of each person: faster than arrays of them in ClickHouse. */
const joined = ({ person, event }: Layout, start: string, { days: [from, until], period }: Asked, divide: (days: string) => string) => {
  const inRange = `timestamp >= '${from} 00:00:00' AND timestamp < '${until} 00:00:00'`
  const startsOf = (done: string, name: string) =>
    `SELECT DISTINCT ${person} AS p, ${start} AS ${name} FROM events WHERE event = ${event(done)} AND ${inRange}`
  const later = period === 'Day' ? 'back - day' : divide('back - day')
  return `SELECT day, 0 AS later, count(*) AS n FROM (${startsOf(began, 'day')}) GROUP BY day
    UNION ALL
    SELECT day, ${later} AS later, count(*) AS n FROM (${startsOf(began, 'day')}) a JOIN (${startsOf(returned, 'back')}) b USING (p)
    WHERE back > day GROUP BY day, later`
}

const dayBefore = (date: string) => new Date(Date.parse(`${date}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)

const retentionOf = (asked: Asked): Question => ({
  name: asked.name,
  waymark: {
    query: () => ({
      kind: 'RetentionQuery',
      dateRange: { date_from: asked.days[0], date_to: dayBefore(asked.days[1]) },
      retentionFilter: {
        targetEntity: { id: began, type: 'events' },
        returningEntity: { id: returned, type: 'events' },
        period: asked.period,
        totalIntervals: asked.intervals,
      },
    }),
    rows: ({ results }: RetentionResponse): Rows =>
      results
        .flatMap(({ date, values }) => values.map(({ count }, later) => [date.slice(0, 10), later, count]))
        .filter(([, , n]) => n !== 0),
  },
  clickhouse: (layout) => joined(layout, asked.clickhouse, asked, (days) => `intDiv(${days}, 7)`),
  duckdb: (layout) => joined(layout, asked.duckdb, asked, (days) => `(${days}) // 7`),
})

const march = ['2026-03-01', '2026-04-01'] as const
const inMarch = `timestamp >= '${march[0]} 00:00:00' AND timestamp < '${march[1]} 00:00:00'`

const activeDays = ({ person, event }: Layout, days: string) =>
  `SELECT days, count(*) AS n FROM (SELECT ${person} AS p, ${days} AS days FROM events WHERE event = ${event(began)} AND ${inMarch} GROUP BY p) GROUP BY days`

const stickiness: Question = {
  name: 'stickiness, 31 days',
  waymark: {
    query: () => ({
      kind: 'StickinessQuery',
      series: [{ kind: 'EventsNode', event: began, math: 'dau' }],
      dateRange: { date_from: march[0], date_to: dayBefore(march[1]) },
    }),
    rows: ({ results }: StickinessResponse): Rows => results[0]!.data.map((n, i) => [i + 1, n]).filter(([, n]) => n !== 0),
  },
  clickhouse: (layout) => activeDays(layout, 'uniqExact(toDate(timestamp))'),
  duckdb: (layout) => activeDays(layout, 'count(DISTINCT timestamp::DATE)'),
}

export const returns: readonly Question[] = [
  retentionOf({
    name: 'retention, 30 days',
    period: 'Day',
    intervals: 30,
    days: ['2026-03-02', '2026-04-01'],
    clickhouse: 'toDate(timestamp)',
    duckdb: 'timestamp::DATE',
  }),
  retentionOf({
    name: 'retention, 12 weeks',
    period: 'Week',
    intervals: 12,
    days: ['2026-01-04', '2026-03-29'], // from a Sunday
    clickhouse: 'toStartOfWeek(timestamp)',
    duckdb: '(timestamp::DATE - dayofweek(timestamp)::INTEGER)',
  }),
  stickiness,
]
