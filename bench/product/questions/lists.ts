import type { EventsResponse, SqlResponse } from 'waymark'
import type { Cell, Rows } from '../contender.ts'
import { askedPerson, type Layout, type Question } from '../question.ts'

/** Microseconds since 1970, from what Waymark prints. */
export function microsecondsOf(time: string): number {
  const [, second, fraction = '', zone = ''] = /^(.*?:\d\d:\d\d)(?:\.(\d+))?(.*)$/.exec(time)!
  return Date.parse(`${second}${zone || 'Z'}`) * 1000 + Number(fraction.padEnd(6, '0'))
}

const groupBy: Question = {
  name: 'SQL group by',
  waymark: {
    query: () => ({
      kind: 'SqlLikeQuery',
      query: `select properties.country as country, properties.plan as plan, count() as n, avg(toFloat(properties.amount)) as mean
        from events where event in ('purchased', 'checked out') group by country, plan order by country, plan limit 1000`,
    }),
    rows: ({ results }: SqlResponse) => results as Rows,
  },
  clickhouse: (layout) => statementOfGroups(layout),
  duckdb: (layout) => statementOfGroups(layout),
}
const statementOfGroups = ({ text, number, event }: Layout) =>
  `SELECT ${text('country')} AS country, ${text('plan')} AS plan, count(*) AS n, avg(${number('amount')}) AS mean
    FROM events WHERE event IN (${event('purchased')}, ${event('checked out')}) GROUP BY country, plan`

const rowsOfEvents = ({ results }: EventsResponse): Rows =>
  results.map(([uuid, event, timestamp, ...rest]) => [uuid as Cell, event as Cell, microsecondsOf(String(timestamp)), ...(rest as Cell[])])
const select = ['uuid', 'event', 'timestamp', 'distinct_id', 'properties.plan']
const listed = (microseconds: string, { text, eventName }: Layout, where: string) =>
  `SELECT uuid, ${eventName} AS name, ${microseconds} AS at, distinct_id, ${text('plan')} AS plan FROM events WHERE ${where} ORDER BY timestamp DESC LIMIT 100`
interface Listed {
  readonly name: string
  readonly isOfPerson?: true
  narrowed(personId: string): object
  where(layout: Layout): string
}
const list = ({ name, isOfPerson, narrowed, where }: Listed): Question => ({
  name,
  isOfPerson,
  waymark: {
    query: (personId) => ({ kind: 'EventsQuery', select, orderBy: ['timestamp DESC'], limit: 100, ...narrowed(personId) }),
    rows: rowsOfEvents,
  },
  clickhouse: (layout) => listed('toUnixTimestamp64Micro(timestamp)', layout, where(layout)),
  duckdb: (layout) => listed('epoch_us(timestamp)', layout, where(layout)),
})

export const lists: readonly Question[] = [
  groupBy,
  list({
    name: 'latest 100 events',
    narrowed: () => ({ after: '2026-03-31T00:00:00Z' }),
    where: () => "timestamp > '2026-03-31 00:00:00'",
  }),
  list({
    name: 'events of a person',
    isOfPerson: true,
    narrowed: (personId) => ({ personId, after: 'all' }),
    where: ({ person, personLiteral }) => `${person} = ${personLiteral(askedPerson)}`,
  }),
]
