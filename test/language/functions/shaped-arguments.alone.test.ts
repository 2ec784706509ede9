import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Aggregates over arrays, maps and intermediate states: what they take, and what they say of anything else, also where a state was made further inside.

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

const time = (day: number) => `toDateTime('2024-01-0${day} 00:00:00')`

test.each([
  ['avgArray([true, false])', 0.5],
  ['avgForEach([true, false])', [1, 0]],
  ["arrayReduce('avg', [true, false])", 0.5],
  ["avgMap(map('a', true))", { a: 1 }],
  ['minArray([true, false])', 0],
  [`medianArray([${time(1)}, ${time(3)}])`, '2024-01-02T00:00:00Z'],
  ["quantileArray(0.5)([toDate('2024-01-01'), toDate('2024-01-03')])", '2024-01-02'],
  [`arrayReduce('median', [${time(1)}, ${time(3)}])`, '2024-01-02T00:00:00Z'],
  ['avgMerge(s) from (select avgState(x = 1) as s from (select arrayJoin([1, 2]) as x))', 0.5],
  [`medianMerge(s) from (select medianState(x) as s from (select arrayJoin([${time(1)}, ${time(3)}]) as x))`, '2024-01-02T00:00:00Z'],
])('%s', async (expression, value) => {
  expect(await project.rows(`select ${expression}`)).toEqual([[value]])
  if (hasClickHouse) expect(await clickhouse.rows(`select ${expression}`, project)).toEqual([[value]])
})

test.each([
  ['sumForEachMerge(s) from (select sumForEachState(7) as s)', "'sumForEachState' needs an array, but '7' is UInt8"],
  ["avgMapMerge(s) from (select avgMapState('a') as s)", "'avgMapState' needs a map, but ''a'' is String"],
  [
    'sumForEachMerge(s) from (select sumForEachState(properties.x) as s from events)',
    "'sumForEachState' needs an array, but 'properties.x' is Nullable(String). Use JSONExtract(properties.x, 'Array(Float64)').",
  ],
  ['uniqMapMerge(s) from (select uniqMapState([1]) as s)', "'uniqMapState' needs a map, but '[1]' is Array(UInt8)"],
  ['sumArrayIf(7, true)', "'sumArrayIf' needs an array, but '7' is UInt8"],
  [
    `quantilesMerge(0.5)(s) from (select quantilesState(0.5)(${time(1)}) as s)`,
    `'quantilesState' needs a number, but '${time(1)}' is Nullable(DateTime64(6))`,
  ],
  [
    'medianMerge(s) from (select medianState(toIntervalDay(1)) as s)',
    "'medianState' needs a number, but 'toIntervalDay(1)' is IntervalDay",
  ],
  ['runningDifference(toIntervalDay(1))', "'runningDifference' needs a number, but 'toIntervalDay(1)' is IntervalDay"],
])('refused: %s', async (expression, message) => {
  const refusal = await answerQuery({ kind: 'SqlLikeQuery', query: `select ${expression}` }, project).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'type-mismatch', message: expect.stringContaining(message), position: { line: 1 } })
})
