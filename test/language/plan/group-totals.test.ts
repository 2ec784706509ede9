import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Groups and their totals are made of the same rows, which are read once.

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  const prices = [5, '7.5', 'n/a', -2, null, 12]
  await project.project.ingest({
    batch: prices.map((price, i) => ({
      event: i % 2 ? 'buy' : 'view',
      distinct_id: `p${i % 3}`,
      timestamp: `2024-03-0${i + 1}T10:00:00Z`,
      properties: { price },
    })),
  })
  clickhouse = await openClickHouse()
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const random = `select number % 3 as k, groupArray(number) as g from (select number from numbers(1000) order by rand() limit 40)
group by k with totals order by k`

const answers: readonly (readonly [why: string, statement: string, rows: unknown[][]])[] = [
  [
    'numbers of a property before its texts',
    'select properties.price as p, count() from events group by p with totals order by p',
    [
      ['-2', 1],
      ['5', 1],
      ['12', 1],
      ['7.5', 1],
      ['n/a', 1],
      [null, 1],
      [null, 6],
    ],
  ],
  [
    'LIMIT and OFFSET',
    'select number as n, count() from numbers(5) group by n with totals order by n limit 2 offset 1',
    [
      [1, 1],
      [2, 1],
      [0, 5],
    ],
  ],
  ['LIMIT 0', 'select number as n, count() from numbers(5) group by n with totals order by n limit 0', [[0, 5]]],
  [
    'WITH TIES',
    'select intDiv(number, 2) as half from numbers(5) group by number with totals order by half limit 3 with ties',
    [[0], [0], [1], [1], [0]],
  ],
  [
    'a key that is a tuple',
    'select (event, 1) as t, count() from events group by t with totals order by t',
    [
      [['buy', 1], 3],
      [['view', 1], 3],
      [['', 0], 6],
    ],
  ],
  [
    'a key of a tuple by its name',
    'select (event, 1) as t, count() from events group by t order by t',
    [
      [['buy', 1], 3],
      [['view', 1], 3],
    ],
  ],
  [
    'a key that is an array',
    'select [event] as e, count() from events group by e with totals order by e',
    [
      [['buy'], 3],
      [['view'], 3],
      [[], 6],
    ],
  ],
  [
    'keys that are constants only',
    "select 'all' as k, count() from events group by k with totals",
    [
      ['all', 6],
      ['all', 6],
    ],
  ],
  ['keys that are constants, and no rows', "select 'all' as k, count() from events where event = 'x' group by k with totals", []],
  [
    'persons that are counted once',
    'select event, uniq(distinct_id), count(distinct distinct_id) from events group by event with totals order by event',
    [
      ['buy', 3, 3],
      ['view', 3, 3],
      ['', 3, 3],
    ],
  ],
]

const engines = (['duckdb', 'clickhouse'] as const).filter((engine) => engine === 'duckdb' || hasClickHouse)
describe.each(engines)('%s', (engine) => {
  const rows = (statement: string) => (engine === 'duckdb' ? project.rows(statement) : clickhouse.rows(statement, project))

  test.each(answers)('%s', async (_, statement, expected) => {
    expect(await rows(statement)).toEqual(expected)
  })

  test('a source that differs from read to read', async () => {
    const found = (await rows(random)) as [number, (number | string)[]][]
    const numbers = (from: typeof found) => from.flatMap(([, list]) => list.map(Number)).sort((a, b) => a - b)
    expect(numbers(found.slice(0, -1))).toHaveLength(40)
    expect(numbers(found.slice(-1))).toEqual(numbers(found.slice(0, -1)))
  })
})

test('the events are scanned once, on both engines', async () => {
  const statement = 'select event, count() from events group by event with totals order by event limit 1'
  const printed = [(await project.compile(statement)).printed, await clickhouse.print(statement, project)]
  expect(printed.map(({ sql }) => sql.match(/FROM (?:"p1"\.main\.)?events\b/g)?.length)).toEqual([1, 1])
})

test('LIMIT PERCENT is of the groups', async () => {
  expect(await project.rows('select number as n, count() from numbers(10) group by n with totals order by n limit 20 percent')).toEqual([
    [0, 1],
    [1, 1],
    [0, 10],
  ])
})
