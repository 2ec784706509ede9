import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// What aggregates say of no rows, of NULL, of one row, in groups and over windows: both engines must agree.

let project: TestProject
// What is known here is that both engines say the same.
const compared = test.skipIf(!hasClickHouse)

let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

const sources = {
  'no rows': '(select number as x, number as y from numbers(0))',
  'no rows of a nullable column': '(select toNullable(number) as x, number as y from numbers(0))',
  'nothing but NULL': '(select x, 1 as y from (select arrayJoin([NULL, toNullable(1)]) as x) where x is null)',
  'one row': '(select 7 as x, 3 as y)',
  'numbers and NULL': '(select arrayJoin([3, NULL, 1, 3, NULL, 2]) as x, 2 as y)',
  fractions: '(select arrayJoin([0.5, 2.5, 2.5, -1.25]) as x, 1 as y)',
  'negative numbers': '(select arrayJoin([-5, 3, -5, 100]) as x, 1 as y)',
} as const

// biome-ignore format: a list
const ofOne = [
  'count(x)', 'sum(x)', 'avg(x)', 'min(x)', 'max(x)', 'any(x)', 'uniq(x)', 'uniqExact(x)', 'count(distinct x)', 'sum(distinct x)', 'median(x)', 'quantile(0.75)(x)',
  'quantileExact(0.75)(x)', 'quantiles(0.1, 0.9)(x)', 'medianExactLow(x)', 'stddevPop(x)', 'stddevSamp(x)', 'varPop(x)', 'varSamp(x)', 'groupArray(x)', 'array_agg(x)',
  'arraySort(groupUniqArray(x))', "string_agg(toString(x), ',')", 'json_agg(x)', 'deltaSum(x)', 'every(x > 0)', 'argMin(x, y)', 'argMax(y, x)', 'covarPop(x, y)', 'avgWeighted(x, y)',
  'countIf(x > 1)', 'sumIf(x, x > 1)', 'avgIf(x, x > 100)', 'minIf(x, x > 100)', 'maxOrNull(x)', 'sumOrNullIf(x, x > 100)', 'avgOrDefault(x)', 'countOrNull(x)', 'uniqIf(x, x > 1)',
  'sumArray([x, x])', 'countArray([x, x])', 'avgArrayOrNullIf([x, x], x > 100)', 'minForEach([x, y])', 'sumArgMax(x, y)', 'countDistinctArgMin(x, y)', 'sum(x) filter (where x > 1)',
  'groupArrayMovingSum(x)', 'topK(1)(x)', "sumMap(map('k', x))", 'groupBitOr(assumeNotNull(y))',
]

/** Engines add up in different orders. */
const near = (value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(12)) : Array.isArray(value) ? value.map(near) : value
const both = async (statement: string): Promise<[unknown, unknown]> => {
  const rows = await Promise.all([project.rows(statement), clickhouse.rows(statement, project)])
  return [near(rows[0]), near(rows[1])]
}

describe.each(Object.entries(sources))('%s', (_, source) => {
  compared.each(ofOne)('%s', async (aggregate) => {
    const [ours, theirs] = await both(`select ${aggregate} from ${source}`)
    expect(ours).toEqual(theirs)
  })
})

compared.each(['count()', 'sum(x)', 'avg(x)', 'uniq(x)', 'groupArray(x)', 'median(x)', 'maxIf(x, x < 3)', 'sumOrNullIf(x, x > 4)'])(
  '%s in groups',
  async (aggregate) => {
    const [ours, theirs] = await both(
      `select number % 3 as g, ${aggregate} from (select number, number as x from numbers(8)) group by g order by g`,
    )
    expect(ours).toEqual(theirs)
  },
)

const windows = [
  'partition by x % 2',
  'order by x',
  'partition by x % 2 order by x rows between unbounded preceding and unbounded following',
]
const ranged = 'partition by x % 2 order by x range between 1 preceding and current row'
const narrow = 'partition by x % 2 order by x rows between 1 preceding and current row'
compared.each(
  [
    'count()',
    'sum(x)',
    'avg(x)',
    'min(x)',
    'uniqExact(x)',
    'groupArray(x)',
    'sumIf(x, x > 2)',
    'row_number()',
    'first_value(x)',
    'lag(x)',
    'lead(x, 2, 9)',
  ].flatMap((f) => windows.map((w) => [f, w] as const)),
)('%s over (%s)', async (aggregate, window) => {
  const [ours, theirs] = await both(`select x, ${aggregate} over (${window}) from (select number as x from numbers(6)) order by x`)
  expect(ours).toEqual(theirs)
})

compared.each([
  'count()',
  'sum(x)',
  'max(x)',
  'groupArray(x)',
  'first_value(x)',
  'last_value(x)',
  'lag(x)',
  'lag(x, 2)',
  'lagInFrame(x, 1)',
  'lead(x)',
  'leadInFrame(x)',
])('%s over a narrow frame', async (aggregate) => {
  const [ours, theirs] = await both(`select x, ${aggregate} over (${narrow}) from (select number as x from numbers(6)) order by x`)
  expect(ours).toEqual(theirs)
})

compared.each(['lag(x)', 'lead(x)', 'leadInFrame(x)'])('%s over a frame of values', async (f) => {
  const [ours, theirs] = await both(`select x, ${f} over (${ranged}) from (select number as x from numbers(6)) order by x`)
  expect(ours).toEqual(theirs)
})
