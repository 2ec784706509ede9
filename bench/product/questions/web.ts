import type { WebOverviewResponse } from 'waymark'
import type { Rows } from '../contender.ts'
import type { Layout, Question } from '../question.ts'

// What the owner of a site looks at first: visitors, views, sessions, how long these took and how many bounced. Sessions count where they begin, so events a
// day before and after the range are read too.

const inRange = "timestamp >= '2026-03-01 00:00:00' AND timestamp < '2026-04-01 00:00:00'"
const nearRange = "timestamp >= '2026-02-28 00:00:00' AND timestamp < '2026-04-02 00:00:00'"

const overview = ({ person, event, text }: Layout, { countIf, any, seconds }: Readonly<Record<'countIf' | 'any' | 'seconds', string>>) => {
  const [page, click] = ['$pageview', '$autocapture'].map((name) => `event = ${event(name)}`)
  const sessions = `SELECT ${text('$session_id')} AS s, min(timestamp) AS started, max(timestamp) AS ended, ${any}(${person}) AS p,
      ${countIf}(${page} AND ${inRange}) AS seen, ${countIf}(${page} OR ${click}) AS actions
    FROM events WHERE ${nearRange} GROUP BY s`
  return `SELECT count(DISTINCT p) AS visitors, sum(seen) AS views, count(*) AS sessions, avg(${seconds}) AS duration,
      100 * avg(CASE WHEN actions = 1 AND ${seconds} < 10 THEN 1 ELSE 0 END) AS bounces
    FROM (${sessions}) x WHERE seen > 0 AND started >= '2026-03-01 00:00:00' AND started < '2026-04-01 00:00:00'`
}

export const web: readonly Question[] = [
  {
    name: 'web overview, 31 days',
    waymark: {
      query: () => ({ kind: 'WebOverviewQuery', dateRange: { date_from: '2026-03-01', date_to: '2026-03-31' } }),
      rows: ({ results }: WebOverviewResponse): Rows => [results.map(({ value }) => value!)],
    },
    clickhouse: (layout) => overview(layout, { countIf: 'countIf', any: 'any', seconds: "dateDiff('second', started, ended)" }),
    duckdb: (layout) => overview(layout, { countIf: 'count_if', any: 'any_value', seconds: "date_diff('second', started, ended)" }),
  },
]
