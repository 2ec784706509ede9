import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from './harness/clickhouse.ts'
import { openTestProject, type TestProject } from './harness/duckdb.ts'

// Statements whose rows are known, on both engines.

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const statements: readonly (readonly [name: string, statement: string, rows: unknown])[] = [
  ['literals', "select 1, -129, 1.5, 'a''b', null, true, false", [[1, -129, 1.5, "a'b", null, 1, 0]]],
  ['a table function and aggregates', 'select count(), sum(number) from numbers(1, 4)', [[4, 10]]],
  ['a subquery', "select x, y from (select 1 as x, 'b' as y)", [[1, 'b']]],
  ['order and limit', 'select number from numbers(5) order by number desc limit 2 offset 1', [[3], [2]]],
  ['group by an empty table', 'select event, count() from events group by event', []],
  ['an event name that no event has', "select count() from events where event = 'nothing'", [[0]]],
  ['a CTE', 'with x as (select 1 as a) select a + 1 from x', [[2]]],
  ['a CTE with named columns', 'with x (b) as (select 1 as a) select b from x', [[1]]],
  ['an expression as a CTE', 'with 2 as two select two + 1', [[3]]],
  ['a recursive CTE', 'with recursive t as (select 1 as n union all select n + 1 from t where n < 4) select sum(n) from t', [[10]]],
  ['arrayJoin used twice is one item', 'select arrayJoin([1, 2, 3]) as v where v > 1 order by v', [[2], [3]]],
  [
    'array join side by side',
    "select x, y from numbers(1) array join [1, 2] as x, ['a', 'b'] as y order by x",
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  [
    'limit by',
    'select number % 2 as k, number from numbers(6) order by number desc limit 1 by k',
    [
      [1, 5],
      [0, 4],
    ],
  ],
  ['in with a null', 'select 1 in (1, null), 2 in (1, null), null in (1, null), null in (1, 2)', [[1, 0, 1, 0]]],
  [
    'a call written twice is one group',
    "select positionCaseInsensitive(x, 'b') from (select arrayJoin(['ab', 'b', 'AB']) as x) group by positionCaseInsensitive(x, 'b') order by positionCaseInsensitive(x, 'b')",
    [[1], [2]],
  ],
  [
    'a lambda written twice is one group',
    'select arrayMap(y -> y + 1, [x]) as a from (select arrayJoin([1, 2, 1]) as x) group by arrayMap(y -> y + 1, [x]) order by a',
    [[[2]], [[3]]],
  ],
  [
    'a constant that is read and not printed',
    "select toTypeName('a'), toString(toDateTime('2024-01-01 00:00:00', 'UTC'))",
    [['String', '2024-01-01 00:00:00.000000']],
  ],
  ['an alias of its own column', "select upper(s) as s from (select 'a' as s) where s = 'A'", [['A']]],
]
for (const [name, statement, expected] of statements)
  test(name, async () => {
    expect(await project.rows(statement), 'DuckDB').toEqual(expected)
    if (hasClickHouse) expect(await clickhouse.rows(statement, project), 'ClickHouse').toEqual(expected)
  })
