import type { SqlResponse } from 'waymark'
import type { Rows } from '../contender.ts'
import type { Question } from '../question.ts'

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

export const retention: Question = {
  name: 'retention, 30 days',
  waymark: {
    query: () => ({ kind: 'SqlLikeQuery', query: statement }),
    rows: ({ results }: SqlResponse) => results as Rows,
  },
  clickhouse: ({
    person,
  }) => `SELECT day, arrayJoin(arrayConcat([0], arrayMap(back -> back - day, arrayFilter(back -> back > day, days_back)))) AS later, count() AS n
    FROM (SELECT ${person} AS p, groupUniqArrayIf(toDate(timestamp), event = '${began}') AS days_began,
        groupUniqArrayIf(toDate(timestamp), event = '${returned}') AS days_back
      FROM events WHERE event IN ('${began}', '${returned}') AND ${inMarch} GROUP BY p)
    ARRAY JOIN days_began AS day GROUP BY day, later`,
  duckdb: ({ person }) => `WITH done AS MATERIALIZED (SELECT DISTINCT ${person} AS p, timestamp::DATE AS day, event = '${began}' AS is_first
      FROM events WHERE event IN ('${began}', '${returned}') AND ${inMarch})
    SELECT day, 0 AS later, count(*) AS n FROM done WHERE is_first GROUP BY day
    UNION ALL
    SELECT a.day, b.day - a.day AS later, count(*) AS n FROM done a JOIN done b ON a.p = b.p AND b.day > a.day AND a.is_first AND NOT b.is_first GROUP BY ALL`,
}
