import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registry } from '../../../src/language/functions/registry.ts'
import { isUnsupported } from '../../../src/language/functions/row.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// DuckDB fills up shorter arrays with NULL, ClickHouse refuses them: both refuse.

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

/** Calls over the arrays `a` and `b`. */
const calls: Readonly<Record<string, string>> = {
  arrayMap: 'arrayMap((x, y) -> x + y, a, b)',
  arrayFilter: 'arrayFilter((x, y) -> y > 0, a, b)',
  arrayFirst: 'arrayFirst((x, y) -> y > 0, a, b)',
  arrayLast: 'arrayLast((x, y) -> y > 0, a, b)',
  arrayFirstIndex: 'arrayFirstIndex((x, y) -> y > 0, a, b)',
  arrayLastIndex: 'arrayLastIndex((x, y) -> y > 0, a, b)',
  arrayExists: 'arrayExists((x, y) -> y > 0, a, b)',
  arrayAll: 'arrayAll((x, y) -> y > 0, a, b)',
  arrayCount: 'arrayCount((x, y) -> y > 0, a, b)',
  arrayFill: 'arrayFill((x, y) -> y > 0, a, b)',
  arrayReverseFill: 'arrayReverseFill((x, y) -> y > 0, a, b)',
  arraySplit: 'arraySplit((x, y) -> y > 0, a, b)',
  arrayReverseSplit: 'arrayReverseSplit((x, y) -> y > 0, a, b)',
  arraySort: 'arraySort((x, y) -> y, a, b)',
  arrayReverseSort: 'arrayReverseSort((x, y) -> y, a, b)',
  arrayCumSum: 'arrayCumSum((x, y) -> x + y, a, b)',
  arrayCumSumNonNegative: 'arrayCumSumNonNegative((x, y) -> x - y, a, b)',
  arrayFold: 'arrayFold((sum, x, y) -> sum + x * y, a, b, toInt(0))',
  arrayZip: 'arrayZip(a, b)',
  arrayUniq: 'arrayUniq(a, b)',
  arrayEnumerateUniq: 'arrayEnumerateUniq(a, b)',
  arrayAUC: 'arrayAUC(a, b)',
  mapFromArrays: 'mapFromArrays(a, b)',
  transform: 'transform(1, a, b)',
  dotProduct: 'dotProduct(a, b)',
  L1Distance: 'L1Distance(a, b)',
  L2Distance: 'L2Distance(a, b)',
  LinfDistance: 'LinfDistance(a, b)',
  LpDistance: 'LpDistance(a, b, 3)',
  cosineDistance: 'cosineDistance(a, b)',
  sumMap: 'sumMap(a, b)',
  minMap: 'minMap(a, b)',
  maxMap: 'maxMap(a, b)',
}
/** One array is all that they take. */
const withOneArray = ['arraySum', 'arrayAvg', 'arrayMin', 'arrayMax']

test('every row with arrays side by side is called here', () => {
  const suffixed = /^(sum|min|max)Map./
  const rows = [...registry].filter(([name, { sideBySide }]) => sideBySide && !suffixed.test(name)).map(([name]) => name)
  expect(rows.sort()).toEqual([...Object.keys(calls), ...withOneArray].sort())
})

const [literals, computed] = ['[1, 2] as a, [3] as b', 'arrayMap(x -> x + number, [1, 2]) as a, arrayPushBack([], 3) as b']
const engines = (['duckdb', 'clickhouse'] as const).filter((engine) => engine === 'duckdb' || hasClickHouse)

describe.each(engines)('%s', (engine) => {
  const rows = (statement: string) => (engine === 'duckdb' ? project.rows(statement) : clickhouse.rows(statement, project))

  test.each(Object.entries(calls))('%s takes arrays of one length', async (_, call) => {
    expect(await rows(`select 1 from (select ${call} as x from (select [1, 2] as a, [3, 4] as b))`)).toEqual([[1]])
  })

  test('a branch that is not taken refuses nothing', async () => {
    const sums = 'select if(length(a) = length(b), arraySum(arrayMap((x, y) -> x + y, a, b)), 0)'
    expect(await rows(`${sums} from (select range(number) as a, [1] as b from numbers(3)) order by length(a)`)).toEqual([[0], [1], [0]])
  })

  test('equal calls are one group', async () => {
    const call = 'arrayMap((x, y) -> x + y, range(n), range(n))'
    expect(
      await rows(`select ${call} as k, count(), length(${call}) from (select number % 2 as n from numbers(4)) group by k order by k`),
    ).toEqual([
      [[], 2, 0],
      [[0], 2, 1],
    ])
  })

  // Behind all answers: ClickHouse in the process writes what is left of a refused one into the next.
  test.each(Object.entries(calls))('%s refuses arrays of different lengths', async (name, call) => {
    if (isUnsupported(registry.get(name)!.sql[engine])) return
    for (const arrays of [literals, computed]) {
      const refused = rows(`select ${call} from (select ${arrays} from numbers(1))`)
      if (engine === 'clickhouse') await expect(refused).rejects.toThrow(/size|length/i)
      else
        await expect(refused).rejects.toMatchObject({
          code: 'unequal-lengths',
          data: { name, lengths: [2, 1] },
          span: { start: 7, end: 7 + call.length },
        })
    }
  })

  test.each([
    'tuplePlus',
    'tupleMinus',
    'tupleMultiply',
    'tupleDivide',
    'tupleHammingDistance',
    'dotProduct',
    'L2Distance',
    'cosineDistance',
  ])('%s refuses tuples of different sizes', async (name) => {
    await expect(rows(`select ${name}((1, 2), (1, 2, 3))`)).rejects.toMatchObject({
      code: 'wrong-type',
      message: `'${name}' needs two arrays, or two tuples of the same size, but got a tuple of 2 and a tuple of 3`,
      span: { start: 7 },
    })
  })

  test('an aggregate of arrayReduce gets as many arrays as it takes', async () => {
    await expect(rows("select arrayReduce('sum', [1, 2], [3, 4])")).rejects.toMatchObject({
      code: 'wrong-arity',
      data: { name: 'sum', max: 1 },
    })
  })
})

test('one array has no check of lengths', async () => {
  const { printed } = await project.compile('select arrayMap(x -> x + 1, range(number)) from numbers(1)')
  expect(printed.sql).not.toContain('lengths')
})

test('the refusal says where it is, what came and what to do', async () => {
  const statement = 'select x, y from numbers(2) array join [1, 2] as x, range(number) as y'
  await expect(project.rows(statement)).rejects.toMatchObject({
    code: 'unequal-lengths',
    data: { name: 'ARRAY JOIN' },
    message: expect.stringMatching(
      /^'ARRAY JOIN' needs arrays of the same length, but got one of 2 items and one of \d\. Make them equally long with arrayResize/,
    ),
    span: { start: statement.indexOf('array join'), end: statement.length },
  })
  await expect(project.rows('select toInt(toString(arrayMap((x, y) -> x, [1], range(number)))) from numbers(1)')).rejects.toMatchObject({
    code: 'unequal-lengths',
  })
})
