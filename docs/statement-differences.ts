import type { JsonValue } from '../src/queries/answers/rows.ts'

// Statements that the engines are known to answer differently. The tests run each of them on both, and fail once they stop differing.

export type StatementAnswer = { readonly rows: readonly (readonly JsonValue[])[] } | { readonly refused: string }
export interface StatementDifference {
  readonly what: string
  readonly statement: string
  readonly duckdb: StatementAnswer
  readonly clickhouse: StatementAnswer
  readonly reason: string
  /** The place of a refusal that is ours. */
  readonly at?: string
}

const refusedForClickHouse = (
  what: string,
  statement: string,
  at: string,
  rows: readonly (readonly JsonValue[])[],
  reason: string,
): StatementDifference => ({ what, statement, at, duckdb: { rows }, clickhouse: { refused: what }, reason })

const noPair = 'ClickHouse joins by pairs of equal columns'
export const statementDifferences: readonly StatementDifference[] = [
  refusedForClickHouse(
    'POSITIONAL JOIN',
    'select a.number, b.number from numbers(1) a positional join numbers(2) b order by 2',
    'numbers(1) a positional join numbers(2) b',
    [
      [0, 0],
      [null, 1],
    ],
    'ClickHouse has no such join',
  ),
  refusedForClickHouse(
    'LEFT JOIN without a pair of equal columns',
    'select b.number from numbers(1) a left join numbers(2) b on a.number < b.number',
    'numbers(1) a left join numbers(2) b on a.number < b.number',
    [[1]],
    noPair,
  ),
  refusedForClickHouse(
    'ASOF JOIN without a pair of equal columns',
    'select b.number from numbers(1) a asof join numbers(2) b on a.number >= b.number',
    'numbers(1) a asof join numbers(2) b on a.number >= b.number',
    [[0]],
    noPair,
  ),
  refusedForClickHouse(
    'LIMIT PERCENT',
    'select number from numbers(10) order by number limit 25 percent',
    'limit 25 percent',
    [[0], [1]],
    'ClickHouse has no such limit',
  ),
  refusedForClickHouse(
    'LIMIT PERCENT',
    'select intDiv(number, 2) as n from numbers(10) order by n limit 10 percent with ties',
    'limit 10 percent with ties',
    [[0], [0]],
    'ClickHouse has no such limit',
  ),
  refusedForClickHouse(
    'a recursive UNION DISTINCT',
    'with recursive t as (select 1 as n union select 1 from t) select n from t',
    'select 1 as n union select 1 from t',
    [[1]],
    'ClickHouse repeats with UNION ALL only',
  ),
  refusedForClickHouse(
    'RANGE with an interval',
    "select count() over (order by t range interval 1 day preceding) as c from (select toDateTime('2024-01-01') + toIntervalDay(number) as t from numbers(2)) order by t",
    'interval 1 day',
    [[1], [2]],
    'a frame of ClickHouse reaches back by a number',
  ),
  refusedForClickHouse(
    'a correlated subquery that reads what may be null',
    'select count() from events e where exists (select 1 from events f where f.properties.plan = e.properties.plan)',
    'exists (select 1 from events f where f.properties.plan = e.properties.plan)',
    [[6]],
    'ClickHouse joins the rows to the subquery by equal values, and would lose the nulls',
  ),
  refusedForClickHouse(
    'LIMIT in a correlated subquery',
    'select count() from events e where exists (select 1 from events f where f.event = e.event limit 1)',
    'exists (select 1 from events f where f.event = e.event limit 1)',
    [[6]],
    'ClickHouse makes joins of correlated subqueries',
  ),
  refusedForClickHouse(
    'a correlated subquery inside of another that reads the same table',
    'select count() from events e where exists (select 1 from numbers(5) n where n.number > 2 and exists (select 1 from numbers(9) m where m.number = length(e.event) + n.number) and n.number = length(e.event))',
    'exists (select 1 from numbers(5) n where n.number > 2 and exists (select 1 from numbers(9) m where m.number = length(e.event) + n.number) and n.number = length(e.event))',
    [[6]],
    'ClickHouse does not find the column there',
  ),
  refusedForClickHouse(
    'a correlated subquery outside of WHERE',
    'select countIf(exists (select 1 from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp)) from events e',
    'exists (select 1 from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp)',
    [[2]],
    'ClickHouse has none in aggregates, windows and ORDER BY',
  ),
  refusedForClickHouse(
    'LATERAL that reads the tables before it',
    'select e.event, l.event from events e left join lateral (select event from events f where f.timestamp > e.timestamp order by f.timestamp limit 1) l on true order by e.timestamp limit 2',
    'select event from events f where f.timestamp > e.timestamp order by f.timestamp limit 1',
    [
      ['view', 'view'],
      ['view', 'view'],
    ],
    'ClickHouse has no LATERAL',
  ),
  {
    what: 'not a number among others',
    statement: 'select x from (select arrayJoin([nan, 1.0]) as x) order by x desc',
    duckdb: { rows: [[null], [1]] },
    clickhouse: { rows: [[1], [null]] },
    reason: 'what is not a number is above all numbers on DuckDB, and behind them in both directions on ClickHouse',
  },
  {
    what: 'the biggest of numbers',
    statement: 'select max(x) from (select arrayJoin([nan, 1.0]) as x)',
    duckdb: { rows: [[null]] },
    clickhouse: { rows: [[1]] },
    reason: 'for the same reason `max` is not a number on DuckDB where one value is not, and ClickHouse passes over it',
  },
  {
    what: 'groups of what is not a number',
    statement: 'select count() from (select arrayJoin([nan, 0 / 0]) as x) group by x having count() > 1',
    duckdb: { rows: [[2]] },
    clickhouse: { rows: [] },
    reason: 'ClickHouse groups such values by their bits, and there are several',
  },
]
