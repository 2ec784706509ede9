// Questions, each as a query of Waymark and as the statement that somebody who knows ClickHouse would write over the same rows.

const dateRange = { date_from: '2026-03-01', date_to: '2026-03-30' }
const inRange = "project_id = {project} AND timestamp >= '2026-03-01' AND timestamp < '2026-03-31'"
const visit = { kind: 'EventsNode', event: 'visit' } as const
const buy = { kind: 'EventsNode', event: 'buy' } as const

export interface Question {
  readonly name: string
  readonly query: object
  readonly sql: string
}

export const questions: readonly Question[] = [
  {
    name: 'events of a day',
    query: { kind: 'TrendsQuery', series: [visit], dateRange },
    sql: `SELECT toDate(timestamp) AS day, count() FROM events WHERE ${inRange} AND event = 'visit' GROUP BY day ORDER BY day`,
  },
  {
    name: 'people of a day',
    query: { kind: 'TrendsQuery', series: [{ ...visit, math: 'dau' }], dateRange },
    sql: `SELECT toDate(timestamp) AS day, uniqExact(person_no) FROM events WHERE ${inRange} AND event = 'visit' GROUP BY day ORDER BY day`,
  },
  {
    name: 'a breakdown',
    query: { kind: 'TrendsQuery', series: [visit], dateRange, breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } },
    sql: `SELECT JSONExtractString(properties, 'plan') AS plan, toDate(timestamp) AS day, count() FROM events WHERE ${inRange} AND event = 'visit' GROUP BY plan, day ORDER BY plan, day`,
  },
  {
    name: 'a sum',
    query: { kind: 'TrendsQuery', series: [{ ...buy, math: 'sum', math_property: 'amount' }], dateRange },
    sql: `SELECT toDate(timestamp) AS day, sum(JSONExtractFloat(properties, 'amount')) FROM events WHERE ${inRange} AND event = 'buy' GROUP BY day ORDER BY day`,
  },
  {
    name: 'a funnel of two steps',
    query: { kind: 'FunnelsQuery', series: [visit, buy], dateRange },
    sql: `SELECT level, count() FROM (SELECT person_no, windowFunnel(1209600)(toDateTime(timestamp), event = 'visit', event = 'buy') AS level FROM events WHERE ${inRange} AND event IN ('visit', 'buy') GROUP BY person_no) GROUP BY level ORDER BY level`,
  },
  {
    name: 'a statement',
    query: {
      kind: 'SqlLikeQuery',
      query:
        "select properties.plan, count(), uniq(person_id) from events where timestamp >= '2026-03-01' and timestamp < '2026-03-31' group by 1 order by 1",
    },
    sql: `SELECT JSONExtractString(properties, 'plan') AS plan, count(), uniqExact(person_no) FROM events WHERE ${inRange} GROUP BY plan ORDER BY plan`,
  },
]
