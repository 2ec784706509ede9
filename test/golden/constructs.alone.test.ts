import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StatementAnswer, statementDifferences } from '../../docs/statement-differences.ts'
import { UnsupportedError, WaymarkError } from '../../src/errors/errors.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'

// Every construct of the language either answers alike on both engines, in a project with events and in one without, or is refused by name,
// with its place.

let full: TestProject
let empty: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  full = await openTestProject({ id: 1 })
  empty = await openTestProject({ id: 2 })
  await full.project.ingest({
    batch: ['a', 'b', 'c', 'd', 'a', 'c'].map((distinct_id, i) => ({
      event: i % 2 ? 'buy' : 'view',
      distinct_id,
      timestamp: `2024-03-3${i % 2}T0${i}:30:00Z`,
      properties: { price: i, plan: ['pro', 'free', null][i % 3] },
    })),
  })
  clickhouse = await openClickHouse()
  await clickhouse.load(full)
  await clickhouse.load(empty)
})
afterAll(async () => {
  await full.close()
  await empty.close()
  await clickhouse.close()
})

const answers: readonly (readonly [statement: string, rows: unknown[][]])[] = [
  // reading
  ['select event from events final order by timestamp limit 1', [['view']]],
  ['select count() from events sample 1', [[6]]],
  ['select count() from events sample 1/1 offset 0', [[6]]],
  ['select count() = (select count() from events sample 0.5) from events sample 50 percent', [[1]]],
  ['select number from numbers(3) prewhere number > 0 where number < 2', [[1]]],
  [
    "select * from values (1, 'a'), (2, 'b') as t(x, y) order by x",
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  ['select number from generateSeries(1, 5, 2) order by 1', [[1], [3], [5]]],
  ['select number from numbers(2, 2) order by 1', [[2], [3]]],
  // columns
  ["select columns('^eve') from events order by timestamp limit 1", [['view']]],
  ['select columns(event, distinct_id) from events order by timestamp limit 1', [['view', 'a']]],
  ['select * exclude (number) from (select number, 1 as b from numbers(1))', [[1]]],
  ['select * replace (number + 1 as number) from numbers(1)', [[1]]],
  // sets of values
  ["select count() from events where event in (select nullIf('buy', '')) and event not in (select nullIf('', ''))", [[3]]],
  [
    "select x in (select toInt('y')), x not in (select toInt('y')), 5 not in (select toInt('z')) from (select toInt('x') as x)",
    [[1, 0, 1]],
  ],
  ['select (1, 2) in (select 1, 2), (1, 2) in (select 2, 1), (1, nullIf(1, 1)) in (select 1, nullIf(2, 2))', [[1, 0, 1]]],
  ["select 1 in (c, 2), 1 not in (c, 2), c in (c, 2), c not in (1, 2) from (select toInt('x') as c)", [[0, 1, 1, 1]]],
  // grouping
  [
    'select event, count() from events group by event with rollup order by event',
    [
      ['buy', 3],
      ['view', 3],
      [null, 6],
    ],
  ],
  [
    'select event, count() from events group by rollup(event) order by event',
    [
      ['buy', 3],
      ['view', 3],
      [null, 6],
    ],
  ],
  [
    'select event, count() from events group by event with cube order by event',
    [
      ['buy', 3],
      ['view', 3],
      [null, 6],
    ],
  ],
  [
    'select event, plan, count() from (select event, 1 as plan from events) group by grouping sets ((event), (plan)) order by 1, 2',
    [
      ['buy', null, 3],
      ['view', null, 3],
      [null, 1, 6],
    ],
  ],
  ['select count() from events group by grouping sets ((event), ()) order by 1', [[3], [3], [6]]],
  [
    'select number % 2 as k, count() from numbers(4) group by all order by k',
    [
      [0, 2],
      [1, 2],
    ],
  ],
  ["select event, event = 'buy' as b, count() from events group by event having event != 'view' order by event", [['buy', 1, 3]]],
  [
    "select event = 'buy' as b, countIf(event = 'buy') from events group by b order by event = 'buy'",
    [
      [0, 0],
      [1, 3],
    ],
  ],
  [
    'select event, count() as n, max(properties.price) > 4 as b from events group by event with totals order by n desc, event limit 1',
    [
      ['buy', 3, 1],
      ['', 6, 1],
    ],
  ],
  [
    "select properties.plan as p, concat(event, '!') as e, count() from events where event = 'buy' group by p, event with totals order by p",
    [
      ['free', 'buy!', 1],
      ['pro', 'buy!', 1],
      [null, 'buy!', 1],
      [null, '!', 3],
    ],
  ],
  [
    'select toDate(timestamp) as d, count() from events group by all with totals order by d',
    [
      ['2024-03-30', 3],
      ['2024-03-31', 3],
      ['1970-01-01', 6],
    ],
  ],
  ["select event, count() from events where event = 'none' group by event with totals", []],
  [
    'select arrayJoin([1, 2, 2]) as x, count() from numbers(6) group by x with totals order by x',
    [
      [1, 6],
      [2, 12],
      [0, 18],
    ],
  ],
  [
    'select number % 2 as k, sum(arrayJoin([1, 10])) as s from numbers(4) where arrayJoin([1, 10]) > 1 group by k with totals order by k',
    [
      [0, 20],
      [1, 20],
      [0, 40],
    ],
  ],
  [
    'select 1 as one, number % 2 as k, count() from numbers(3) group by one, k with totals order by k',
    [
      [1, 0, 2],
      [1, 1, 1],
      [1, 0, 3],
    ],
  ],
  // entries of maps
  [
    "select arrayJoin(map('a', 1, 'b', 2)) as entry, entry.1 as k order by k",
    [
      [['a', 1], 'a'],
      [['b', 2], 'b'],
    ],
  ],
  ["select e.2 from (select map('a', 1, 'b', 2) as m) array join m as e order by e.1", [[1], [2]]],
  // rows that are filled in
  [
    "select number * 2 as n, n + 1 as m, 'x' as x from numbers(3) order by n with fill",
    [
      [0, 1, 'x'],
      [1, 0, ''],
      [2, 3, 'x'],
      [3, 0, ''],
      [4, 5, 'x'],
    ],
  ],
  ['select number * 2 as n from numbers(3) order by n with fill from -1 to 4 step 2', [[-1], [0], [1], [2], [3], [4]]],
  ['select number * 2 as n from numbers(3) order by n desc with fill from 6 to 2 step -1', [[6], [5], [4], [3], [2], [0]]],
  ['select number / 2 as n from numbers(2) order by 1 with fill to 2 step 0.5', [[0], [0.5], [1], [1.5]]],
  ['select number as n from numbers(3) order by n with fill to 9 limit 2 offset 2', [[2], [3]]],
  ['select count() from (select number as n from numbers(3) order by n with fill to 10)', [[10]]],
  ['select number as n from numbers(0) order by n with fill from 1 to 3', [[1], [2]]],
  ['select number as n from numbers(0) order by n with fill to 3', []],
  [
    "select toDate(timestamp) as d, count() as c from events group by d order by d with fill from '2024-03-29' to '2024-04-02'",
    [
      ['2024-03-29', 0],
      ['2024-03-30', 3],
      ['2024-03-31', 3],
      ['2024-04-01', 0],
    ],
  ],
  [
    "select toStartOfMonth(timestamp) as m, count() as c from events group by m order by m with fill from toDate('2024-01-01') to toDate('2024-05-01') step interval 1 month",
    [
      ['2024-01-01', 0],
      ['2024-02-01', 0],
      ['2024-03-01', 6],
      ['2024-04-01', 0],
    ],
  ],
  [
    "select toDate('2024-01-31') as d, 1 as n from numbers(1) order by d with fill to '2024-04-01' step interval 1 month",
    [
      ['2024-01-31', 1],
      ['2024-02-29', 0],
      ['2024-03-31', 0],
    ],
  ],
  [
    "select toDateTime('2024-03-30 00:00:00') + toIntervalHour(number * 12) as t, 1 as x from numbers(2) order by t with fill step interval 6 hour",
    [
      ['2024-03-30T00:00:00Z', 1],
      ['2024-03-30T06:00:00Z', 0],
      ['2024-03-30T12:00:00Z', 1],
    ],
  ],
  [
    "select event, toDate(timestamp) as d, count() as c from events group by event, d order by event, d with fill from '2024-03-30' to '2024-04-01'",
    [
      ['buy', '2024-03-30', 0],
      ['buy', '2024-03-31', 3],
      ['view', '2024-03-30', 3],
      ['view', '2024-03-31', 0],
    ],
  ],
  // windows
  ['select event from events qualify row_number() over (partition by event order by timestamp) = 1 order by event', [['buy'], ['view']]],
  ["select count() as n from events where event = 'buy' qualify n > 1", [[3]]],
  ["select distinct event from events qualify event = 'buy'", [['buy']]],
  ["select event, count() from events group by event qualify event != 'buy'", [['view', 3]]],
  [
    'select sum(number) over (order by number rows between 1 preceding and 1 following) as s from numbers(3) order by number',
    [[1], [3], [3]],
  ],
  [
    'select sum(number) over (order by number range between 1 preceding and 1 following) as s from numbers(3) order by number',
    [[1], [3], [3]],
  ],
  ['select sum(number) over (order by number rows 1 preceding) as s from numbers(3) order by number', [[0], [1], [3]]],
  ['select first_value(number) ignore nulls over (order by number) as f from numbers(2) order by number', [[0], [0]]],
  [
    'select sum(count()) over () as t, event from events group by event order by event',
    [
      [6, 'buy'],
      [6, 'view'],
    ],
  ],
  // limits
  ['select number from numbers(10) order by number % 3 limit 1 with ties', [[0], [3], [6], [9]]],
  ['select top 1 with ties intDiv(number, 2) as n from numbers(4) order by n', [[0], [0]]],
  ['select distinct intDiv(number, 2) as n from numbers(8) order by n limit 2 with ties', [[0], [1]]],
  [
    'select distinct intDiv(number, 2) as n, n % 2 as k from numbers(8) order by n limit 1 by k',
    [
      [0, 0],
      [1, 1],
    ],
  ],
  [
    'select number from numbers(10) qualify row_number() over (order by number desc) <= 6 order by number limit 2 by number % 2',
    [[4], [5], [6], [7]],
  ],
  ['select number % 3 as k from numbers(9) order by k limit 2 by k limit 3 with ties', [[0], [0], [1], [1]]],
  ['select number from numbers(4) order by number limit 1 offset 1 by number % 2', [[2], [3]]],
  ['select distinct on (number % 2) number from numbers(4) order by number % 2, number', [[0], [1]]],
  ['select number from numbers(2) order by all', [[0], [1]]],
  // joins
  ['select a.number from numbers(3) a all join numbers(2) b on a.number = b.number order by 1', [[0], [1]]],
  [
    'select a.number, b.number from numbers(3) a any left join numbers(1) b on a.number = b.number order by 1',
    [
      [0, 0],
      [1, null],
      [2, null],
    ],
  ],
  [
    'select a.number, b.number from numbers(1) a any right join numbers(2) b on a.number = b.number order by 2',
    [
      [0, 0],
      [null, 1],
    ],
  ],
  [
    'select a.number, b.number from (select number, 1 as k from numbers(3)) a asof join (select number, 1 as k from numbers(2)) b on a.k = b.k and a.number >= b.number order by 1',
    [
      [0, 0],
      [1, 1],
      [2, 1],
    ],
  ],
  [
    'select a.number, b.number from (select number, 1 as k from numbers(2)) a asof left join (select number + 1 as number, 1 as k from numbers(1)) b on a.k = b.k and a.number >= b.number order by 1',
    [
      [0, null],
      [1, 1],
    ],
  ],
  ['select a.number from numbers(3) a semi join numbers(2) b on a.number = b.number order by 1', [[0], [1]]],
  ['select b.number from numbers(1) a right semi join numbers(2) b on a.number = b.number', [[0]]],
  ['select a.number from numbers(3) a left anti join numbers(2) b on a.number = b.number', [[2]]],
  ['select b.number from numbers(1) a right anti join numbers(2) b on a.number = b.number', [[1]]],
  ['select * from (select a.number from numbers(2) a semi join numbers(2) b on a.number = b.number) order by 1', [[0], [1]]],
  [
    'select a.number, b.number from numbers(1) a, numbers(2) b order by 2',
    [
      [0, 0],
      [0, 1],
    ],
  ],
  ['select number from numbers(2) natural join numbers(3) b order by 1', [[0], [1]]],
  [
    'select a.number, b.number from numbers(2) a full join numbers(1) b on a.number = b.number + 5 order by 1, 2',
    [
      [0, null],
      [1, null],
      [null, 0],
    ],
  ],
  // what there is
  [
    'describe persons',
    [
      ['team_id', 'Int32'],
      ['id', 'UUID'],
      ['created_at', "DateTime64(6, 'UTC')"],
      ['properties', 'String'],
      ['is_identified', 'UInt8'],
    ],
  ],
  [
    'show columns from person_distinct_ids',
    [
      ['team_id', 'Int32'],
      ['distinct_id', 'String'],
      ['person_id', 'UUID'],
    ],
  ],
  [
    "select name, type from (describe table events) where name like '%_id' and type = 'String' order by name limit 2",
    [
      ['$session_id', 'String'],
      ['$window_id', 'String'],
    ],
  ],
  [
    'desc (select event as e, count() as n, max(properties.price) as p, [1.5] as a from events group by e)',
    [
      ['e', 'String'],
      ['n', 'UInt64'],
      ['p', 'Dynamic'],
      ['a', 'Array(Float64)'],
    ],
  ],
  ['with t as (select 1 as n) select * from (describe t)', [['n', 'UInt8']]],
  [
    "select t.name, c.type from (show tables) t cross join (describe events) c where t.name = 'events' and c.name = 'uuid'",
    [['events', 'UUID']],
  ],
  ['select describe, show, tables, table from (select 1 as describe, 2 as show, 3 as tables, 4 as table)', [[1, 2, 3, 4]]],
  // correlated subqueries
  [
    'select distinct_id from events e where exists (select 1 from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by 1',
    [['a'], ['c']],
  ],
  [
    'select distinct_id from events e where not exists (select 1 from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by 1',
    [['a'], ['b'], ['c'], ['d']],
  ],
  [
    'select distinct_id from events e where event in (select f.event from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp)',
    [['a']],
  ],
  [
    'select distinct_id from events e where event not in (select f.event from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by timestamp',
    [['c'], ['a'], ['b'], ['d'], ['c']],
  ],
  [
    'select distinct_id from events e where (event, distinct_id) in (select f.event, f.distinct_id from events f where f.timestamp > e.timestamp)',
    [['a']],
  ],
  [
    'select distinct_id from events e where 2 in (select count() from events f where f.distinct_id = e.distinct_id group by f.distinct_id) order by timestamp',
    [['a'], ['c'], ['a'], ['c']],
  ],
  [
    'select distinct_id from events e where exists (select 1 from (select f.distinct_id as d from events f where f.timestamp > e.timestamp) q where q.d = e.distinct_id) order by 1',
    [['a'], ['c']],
  ],
  [
    'select lower(event) as name from events where exists (select 1 from numbers(2) where length(name) = number + 3) order by timestamp limit 1',
    [['view']],
  ],
  [
    'select count() from events e where exists (select event from events f where f.event = e.event group by event having count() > 2)',
    [[6]],
  ],
  [
    'select count() from events e where exists (select 1 from numbers(1) where number = length(e.event) union all select 1 from persons p where p.id = e.person_id)',
    [[6]],
  ],
  // a name of the subquery's own comes first
  ["select count() from events where exists (select 1 from (select 'none' as event) where event = 'view')", [[0]]],
  ['select x from numbers(2) n, lateral (select 5 as x) l', [[5], [5]]],
  // arrays into rows
  [
    'select number, x from numbers(1) array join [1, 2] as x order by x',
    [
      [0, 1],
      [0, 2],
    ],
  ],
  [
    'select number, x from numbers(2) left array join if(number = 0, [5], []) as x order by 1',
    [
      [0, 5],
      [1, 0],
    ],
  ],
  // pivots
  [
    "select * from (select event, distinct_id from events) pivot (count() for event in ('buy', 'view')) order by distinct_id limit 2",
    [
      ['a', 0, 2],
      ['b', 1, 0],
    ],
  ],
  [
    "select * from (select event, number from events cross join numbers(2) n) pivot (count() as n, max(number) as m for event in ('buy' as b, 'view')) ",
    [[6, 1, 6, 1]],
  ],
  [
    "select * from events pivot (count() for event in ('buy', 'view') distinct_id in ('a', 'b') group by person_mode) p",
    [['full', 0, 1, 2, 0]],
  ],
  [
    'select n, v from (select 1 as a, 2 as b, 3 as c) unpivot (v for n in (a, b)) where c = 3 order by n',
    [
      ['a', 1],
      ['b', 2],
    ],
  ],
  ['select * from (select nullIf(1, 1) as a, 2 as b) unpivot (v for n in (a, b))', [['b', 2]]],
  [
    "select * from (select nullIf(1, 1) as a, 2 as b) unpivot include nulls (v for n in (a as 'first', b)) u order by v",
    [
      ['b', 2],
      ['first', null],
    ],
  ],
  // WITH and sets
  ['with recursive t (n) as (select 1 union all select n + 1 from t where n < 3) select n from t order by n', [[1], [2], [3]]],
  ['with t as materialized (select 1 as n) select n from t', [[1]]],
  ['with 5 as n select n', [[5]]],
  [
    'select 1 as a, 2 as b union all by name select 3 as b, 4 as a order by a',
    [
      [1, 2],
      [4, 3],
    ],
  ],
  ['select number from numbers(3) intersect select number from numbers(2) order by 1', [[0], [1]]],
  ['select number from numbers(3) except all select number from numbers(2) order by 1', [[2]]],
  [
    'select event as e, (select count() from events) as n from events group by e order by e',
    [
      ['buy', 6],
      ['view', 6],
    ],
  ],
]

describe('answers alike', () => {
  for (const [statement, rows] of answers)
    test(statement, async () => {
      expect(await full.rows(statement)).toEqual(rows)
      if (!hasClickHouse) return
      expect(await clickhouse.rows(statement, full)).toEqual(rows)
      expect(await clickhouse.rows(statement, empty)).toEqual(await empty.rows(statement))
    })
})

const refused: readonly (readonly [statement: string, code: string, at: string, says?: string])[] = [
  // not there yet
  ['select count() from events sample 100', 'unsupported-syntax', 'sample 100', 'SAMPLE with anything but a fraction'],
  ['select count() from persons sample 0.5', 'unsupported-syntax', 'sample 0.5', 'SAMPLE of persons'],
  ['select count() from (select 1 from events) sample 0.5', 'unsupported-syntax', 'sample 0.5', 'SAMPLE of a query'],
  ['with t as (select 1 as a) select a from t sample 0.5', 'unsupported-syntax', 'sample 0.5', 'SAMPLE of a query'],
  ['select number from numbers(4) sample 0.5', 'unsupported-syntax', 'sample 0.5', 'SAMPLE of numbers'],
  ['with t as (select 1 as a) select a from t final', 'unsupported-syntax', 't final', 'FINAL of a query'],
  ['select * from (select event from events group by event with totals)', 'unsupported-syntax', 'group by event with totals', 'in a part'],
  [
    'select event from events group by rollup(event) with totals',
    'unsupported-syntax',
    'group by rollup(event) with totals',
    'beside ROLLUP',
  ],
  ['select event from events group by event with totals having count() > 1', 'unsupported-syntax', 'group by event with totals', 'HAVING'],
  ['select distinct event from events group by event with totals', 'unsupported-syntax', 'group by event with totals', 'DISTINCT'],
  [
    'select arrayJoin(groupArray(number)) as x, number as k from numbers(3) group by k with totals',
    'unsupported-syntax',
    'group by k with totals',
    'arrayJoin of an aggregate',
  ],
  ['select number from numbers(3) order by number with fill, 1', 'unsupported-syntax', 'with fill', 'before other expressions'],
  ['select distinct number from numbers(3) order by number with fill', 'unsupported-syntax', 'with fill', 'DISTINCT'],
  ['select sum(1) over (order by number with fill) from numbers(3)', 'unsupported-syntax', 'number with fill', 'WITH FILL'],
  ['select event from events order by event with fill', 'wrong-type', 'with fill', 'toFloat'],
  ['select number from numbers(3) order by number with fill step 0', 'wrong-type', 'with fill step 0', 'positive, found 0'],
  ['select number from numbers(3) order by number desc with fill step 2', 'wrong-type', 'with fill step 2', 'negative'],
  ['select number from numbers(3) order by number with fill step 0.5', 'wrong-type', '0.5', 'whole number'],
  ["select number from numbers(3) order by number with fill to '2024-01-01'", 'wrong-type', "'2024-01-01'", 'numbers'],
  ['select number from numbers(3) order by number with fill from arrayJoin([1, 2])', 'wrong-type', 'arrayJoin([1, 2])', 'constant'],
  ['select number, count() from numbers(3) group by 1 order by 1 with fill to count()', 'wrong-type', 'count()', 'constant'],
  ['select number from numbers(3) order by number with fill from row_number() over ()', 'wrong-type', 'row_number() over ()', 'constant'],
  ['select number from numbers(3) order by number with fill from rand()', 'wrong-type', 'rand()', 'constant'],
  ['select number from numbers(3) order by number with fill to (select 5)', 'wrong-type', '(select 5)', 'constant'],
  ["select number / 2 as n from numbers(3) order by n with fill to toFloat('nan')", 'wrong-type', "toFloat('nan')", 'constant'],
  ['select number / 2 as n from numbers(3) order by n with fill to 1 / 0', 'wrong-type', '1 / 0', 'constant'],
  ['select number from numbers(3) order by number with fill from null', 'wrong-type', 'null', 'numbers'],
  ['select toDate(timestamp) as d from events order by d with fill from toDate(null)', 'wrong-type', 'toDate(null)', 'constant'],
  ["select toDate(timestamp) as d from events order by d with fill from toDate('x')", 'wrong-type', "toDate('x')", 'constant'],
  ['select number / 2 as n from numbers(3) order by n with fill step 1 / 0', 'wrong-type', '1 / 0', 'number'],
  ['select number / 2 as n from numbers(3) order by n with fill step number', 'unknown-field', 'number'],
  [
    'select toDate(timestamp) as d from events order by d with fill step interval 1 hour',
    'wrong-type',
    'interval 1 hour',
    'at least one day',
  ],
  ["select toDate(timestamp) as d from events order by d with fill to '2024-04-01 10:00'", 'wrong-type', "'2024-04-01 10:00'", 'toDate'],
  [
    "select toDate(timestamp) as d from events order by d with fill from toDateTime('2024-03-01 10:00:00')",
    'wrong-type',
    "toDateTime('2024-03-01 10:00:00')",
    'toDate',
  ],
  [
    'select number from numbers(3) order by number with fill from 0 to 2000000',
    'invalid-query',
    'with fill from 0 to 2000000',
    'more than 1,000,000 rows',
  ],
  [
    "select timestamp from events order by timestamp with fill from '2024-01-01' to '2025-01-01'",
    'invalid-query',
    "with fill from '2024-01-01' to '2025-01-01'",
    'more than 1,000,000 rows',
  ],
  ['select number from numbers(3) order by number with fill interpolate (number)', 'syntax-error', 'interpolate'],
  ["select event from events order by event collate 'de'", 'unsupported-syntax', "event collate 'de'", 'COLLATE'],
  ['select 1 settings max_threads = 1', 'unsupported-syntax', 'max_threads = 1', 'SETTINGS'],
  ['select #1 from events', 'unsupported-syntax', '#1', 'the positional reference #1'],
  ['select count(x := 1) from events', 'unsupported-syntax', 'x := 1', 'arguments by name'],
  ['select <a href={event}></a> from events', 'unsupported-syntax', '<a href={event}></a>', 'the content of the tag <a>'],
  ['select 1 from <Source />', 'unsupported-syntax', '<Source />', 'the tag <Source />'],
  ['select * from events as e(a)', 'unsupported-syntax', 'events as e(a)', 'other names'],
  [
    'with recursive t using key (n) as (select 1 as n union all select n from t) select n from t',
    'unsupported-syntax',
    't using key (n) as (select 1 as n union all select n from t)',
    'USING KEY',
  ],
  [
    'with recursive t as (select 1 as n union all select n + 1 from t order by n) select n from t',
    'unsupported-syntax',
    't as (select 1 as n union all select n + 1 from t order by n)',
    'ORDER BY and LIMIT',
  ],
  [
    'select 1 from numbers(3) a any join numbers(2) b on a.number = b.number',
    'unsupported-syntax',
    'numbers(3) a any join numbers(2) b on a.number = b.number',
    'INNER ANY JOIN',
  ],
  [
    'select 1 from numbers(3) a any full join numbers(2) b on a.number = b.number',
    'unsupported-syntax',
    'numbers(3) a any full join numbers(2) b on a.number = b.number',
    'FULL ANY JOIN',
  ],
  [
    'select 1 from numbers(3) a cross semi join numbers(2) b',
    'unsupported-syntax',
    'numbers(3) a cross semi join numbers(2) b',
    'CROSS SEMI JOIN',
  ],
  [
    'select 1 from numbers(3) a asof right join numbers(2) b on a.number > b.number',
    'unsupported-syntax',
    'numbers(3) a asof right join numbers(2) b on a.number > b.number',
    'RIGHT ASOF JOIN',
  ],
  [
    'select 1 from numbers(1) a right join lateral (select a.number) b on true',
    'unsupported-syntax',
    'numbers(1) a right join lateral (select a.number) b on true',
    'LATERAL with RIGHT JOIN',
  ],
  [
    'select 1 from events e where exists (select 1 from numbers(1) a left join numbers(1) b on a.number = b.number and e.event = 1)',
    'unsupported-syntax',
    'e.event',
    'ON of a LEFT JOIN that reads the outer query',
  ],
  // mistakes that an engine would find in its own words
  ['select count() as c from events having exists (select 1 from numbers(9) where number = c)', 'invalid-query', 'c', 'an aggregate'],
  [
    'select event, exists (select 1 from numbers(3) where number = length(event)) from events group by event',
    'invalid-query',
    'exists (select 1 from numbers(3) where number = length(event))',
    'after its GROUP BY',
  ],
  ['select exists (select max(e.event) from numbers(1)) from events e', 'invalid-query', 'max(e.event)', 'the outer query'],
  ['select (select count() from numbers(9) where number = length(e.event)) from events e', 'unknown-field', 'e.event'],
  ['select arrayMap(x -> exists (select 1 from numbers(1) where number = x), [1])', 'unknown-field', 'x'],
  ['select e.event from events e where exists (select 1 from numbers(1) where e.evnt = 1)', 'unknown-field', 'e.evnt', 'evnt'],
  ['select 1 from (select number as n) s, numbers(1)', 'unknown-field', 'number'],
  ['select 1 from numbers(1) a, (select a.number) b', 'unknown-field', 'a.number'],
  ['describe evnts', 'unknown-table', 'evnts', 'events'],
  ['describe information_schema.tables', 'unknown-table', 'information_schema.tables'],
  ['show columns from `@people`', 'illegal-identifier', '`@people`'],
  ['describe (select nope from events)', 'unknown-field', 'nope'],
  ['show databases', 'syntax-error', 'show', 'SELECT'],
  ['select event, count() from events', 'not-grouped', 'event'],
  ['select properties.plan, count() from events group by event', 'not-grouped', 'properties.plan'],
  ['select arrayMap(x -> concat(x, distinct_id), [event]) from events group by event', 'not-grouped', 'distinct_id'],
  ['select event from events group by event order by timestamp', 'not-grouped', 'timestamp'],
  ['select event from events qualify count() > 1', 'not-grouped', 'event'],
  ['select rank() over (order by distinct_id) from events group by event', 'not-grouped', 'distinct_id'],
  ['select 1 from events where count() > 1', 'invalid-query', 'count()', 'HAVING'],
  ['select 1 from events where row_number() over () > 1', 'invalid-query', 'row_number() over ()', 'QUALIFY'],
  ['select 1 from events group by count()', 'invalid-query', 'count()'],
  ['select event from events having event = 1', 'invalid-query', 'event = 1'],
  ['select 1 from events e join events f on count() = 1', 'invalid-query', 'count()'],
  ['select x from numbers(1) array join number as x', 'type-mismatch', 'number'],
  ['select * exclude (number) from numbers(2)', 'invalid-query', '* exclude (number)'],
  ['select * exclude (gone) from numbers(2)', 'unknown-field', '* exclude (gone)'],
  ["select columns('zzz') from events", 'invalid-query', "columns('zzz')"],
  ['select number from numbers(10) limit 1 with ties', 'invalid-query', 'limit 1 with ties'],
  ['select number from numbers(10) order by 1 limit 101 percent', 'wrong-type', 'limit 101 percent'],
  ["select 1 as a union all select 'x'", 'wrong-type', "select 1 as a union all select 'x'"],
  ['select n from (select 1) as t(n, m)', 'invalid-query', '(select 1) as t(n, m)'],
  ['with t(a, b) as (select 1) select a from t', 'invalid-query', 't(a, b) as (select 1)'],
  ['with t as (select n from t) select n from t', 'invalid-query', 't as (select n from t)'],
  ['with recursive t as (select n from t) select n from t', 'invalid-query', 't as (select n from t)'],
  ['select 1 from events a join events b using (1)', 'invalid-query', '1'],
  ['select 1 from numbers(1) a cross join numbers(1) b on a.number = 1', 'invalid-query', 'a.number = 1'],
  ['select 1 from numbers(1) a join numbers(1) b', 'invalid-query', 'numbers(1) a join numbers(1) b'],
  [
    'select 1 from numbers(1) a asof join numbers(1) b on a.number = b.number',
    'invalid-query',
    'numbers(1) a asof join numbers(1) b on a.number = b.number',
  ],
  ['select b.number from numbers(1) a semi join numbers(1) b on a.number = b.number', 'invalid-query', 'b.number'],
  ['select sum(1) over (rows between current row and 1 preceding) from numbers(1)', 'invalid-query', '1 preceding'],
  ['select sum(1) over (rows between 1 preceding and 2 preceding) from numbers(1)', 'invalid-query', '2 preceding'],
  ['select sum(1) over (rows number preceding) from numbers(1)', 'unknown-field', 'number'],
  ['select sum(1) over (rows -1 preceding) from numbers(1)', 'wrong-type', '-1'],
  ['select sum(1) over (order by number, 1 range 1 preceding) from numbers(1)', 'invalid-query', '1'],
  ['select sum(1) over (order by timestamp range 1 preceding) from events', 'wrong-type', '1'],
  ["select 1 from events pivot (event for event in ('a'))", 'wrong-type', 'event'],
  ['select 1 from events pivot (count() for event in (event))', 'wrong-type', 'event'],
  ['select 1 from numbers(1) unpivot (v for n in (gone))', 'unknown-field', 'gone'],
]

describe('refused alike', () => {
  for (const [statement, code, at, says] of refused)
    test(statement, async () => {
      for (const project of [full, empty])
        for (const print of [project.compile, (text: string) => clickhouse.print(text, project)]) {
          const error = await print(statement).then(
            () => null,
            (thrown: unknown) => thrown,
          )
          expect(error).toBeInstanceOf(WaymarkError)
          const { span, message, ...known } = error as WaymarkError
          expect([known.code, span && statement.slice(span.start, span.end)]).toEqual([code, at])
          if (says) expect(message).toContain(says)
        }
    })
})

describe('known differences', () => {
  const answered = (rows: Promise<unknown[][]>, known: StatementAnswer) =>
    rows.then(
      (found) => ({ rows: found }),
      (error: Error) => ('refused' in known && error.message.includes(known.refused) ? known : { refused: error.message }),
    )
  for (const { statement, what, duckdb, clickhouse: other, at } of statementDifferences)
    test(statement, async () => {
      expect(duckdb).not.toEqual(other)
      expect(await answered(full.rows(statement), duckdb)).toEqual(duckdb)
      if (hasClickHouse || 'refused' in other) expect(await answered(clickhouse.rows(statement, full), other)).toEqual(other)
      if (at === undefined) return
      const error = await clickhouse.print(statement, full).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(UnsupportedError)
      const { code, span, data } = error as UnsupportedError
      expect([code, span && statement.slice(span.start, span.end), data]).toEqual([
        'unsupported-syntax',
        at,
        { what, engine: 'ClickHouse' },
      ])
    })
})

test('a fill whose ends only the rows tell is bounded too', async () => {
  for (const statement of [
    'select number * 2000000 as n from numbers(2) order by n with fill limit 3',
    'select number as n from numbers(2) order by n with fill to 100000000 limit 3',
    'select number / 2 as n from numbers(2) order by n with fill step 1e-300',
    "select toFloat(if(number = 1, 'inf', '0')) as n from numbers(2) order by n with fill",
  ])
    await expect(full.rows(statement)).rejects.toMatchObject({
      code: 'engine-refused',
      message: expect.stringContaining('WITH FILL would make more than 1,000,000 rows'),
    })
})
