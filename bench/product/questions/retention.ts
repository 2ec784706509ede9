import type { SqlResponse } from 'waymark'
import type { Rows } from '../contender.ts'
import type { Layout, Question } from '../question.ts'

// Those who did the first event on a day of March, and on how many of the days after it they did the second one.

const [began, returned] = ['$pageview', 'added to cart']
const inMarch = "timestamp >= '2026-03-01 00:00:00' AND timestamp < '2026-04-01 00:00:00'"

/** Waymark has no RetentionQuery yet: this statement answers the same. */
const statement = `select day, 0 as later, count() as n
    from (select distinct person_id, toDate(timestamp) as day from events where event = '${began}' and ${inMarch}) group by day
  union all
  select day, dateDiff('day', day, back) as later, count() as n
    from (select distinct person_id as p, toDate(timestamp) as day from events where event = '${began}' and ${inMarch}) a
    join (select distinct person_id as p, toDate(timestamp) as back from events where event = '${returned}' and ${inMarch}) b on a.p = b.p
    where back > day group by day, later`

/** A join of the days of each person: faster than arrays of days in ClickHouse. */
const joined = ({ person, event }: Layout, day: string) => {
  const daysOf = (done: string, name: string) =>
    `SELECT DISTINCT ${person} AS p, ${day} AS ${name} FROM events WHERE event = ${event(done)} AND ${inMarch}`
  return `SELECT day, 0 AS later, count(*) AS n FROM (${daysOf(began, 'day')}) GROUP BY day
    UNION ALL
    SELECT day, back - day AS later, count(*) AS n FROM (${daysOf(began, 'day')}) a JOIN (${daysOf(returned, 'back')}) b USING (p)
    WHERE back > day GROUP BY day, later`
}

export const retention: Question = {
  name: 'retention, 30 days',
  waymark: {
    query: () => ({ kind: 'SqlLikeQuery', query: statement }),
    rows: ({ results }: SqlResponse) => results as Rows,
  },
  clickhouse: (layout) => joined(layout, 'toDate(timestamp)'),
  duckdb: (layout) => joined(layout, 'timestamp::DATE'),
}
