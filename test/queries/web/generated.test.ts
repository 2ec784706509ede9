import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/execution/answer.ts'
import type { WebOverviewAnswer } from '../../../src/queries/web/overview.ts'
import type { WebTableAnswer } from '../../../src/queries/web/stats-table.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import type { TestProject } from '../../harness/duckdb.ts'
import { projectPool } from '../../harness/projects.ts'
import { afterMerges, mergesArb } from '../../reference/trends-cases.ts'
import { type ReferenceTable, type ReferenceWeb, referenceOverview, referenceTable } from '../../reference/web.ts'
import { asWeb, overviewArb, pathRules, tableArb, webAxes, webEventsArb } from '../../reference/web-cases.ts'

// Overviews and tables over generated sessions equal loops over the events, on both engines.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await pool.close()
  await clickhouse.close()
})

const runs = Number(process.env.WAYMARK_RUNS ?? 40)
const overviewsArb = fc.array(overviewArb, { minLength: 1, maxLength: 3, size: 'max' })
const tablesArb = fc.array(tableArb, { minLength: 1, maxLength: 4, size: 'max' })
type Query = ReferenceWeb | ReferenceTable

/** Sums of fractions differ in their last digits, by the order of the sum. */
const rounded = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(rounded) : typeof value === 'number' ? Number(value.toFixed(9)) : value

const withRules = (project: TestProject): TestProject => ({
  ...project,
  settings: { ...project.settings, pathCleaningFilters: pathRules },
})

function right(events: Parameters<typeof referenceOverview>[0], query: Query): unknown {
  return rounded('breakdown' in query ? referenceTable(events, query) : Object.entries(referenceOverview(events, query)))
}

function given(answer: object, query: Query): unknown {
  if (!('breakdown' in query))
    return rounded((answer as WebOverviewAnswer).results.map(({ key, value, previous }) => [key, [value, previous]]))
  const { columns, results, hasMore } = answer as WebTableAnswer
  expect(hasMore).toBe(false)
  expect(results.every((row) => row.length === columns.length)).toBe(true)
  const pairs = columns.filter((name) => !/ui_fill_fraction|cross_sell/.test(name)).length
  return rounded(results.map((row) => row.slice(0, pairs)))
}

const met = new Map<string, number>()

test.each([
  ['overviews', overviewsArb],
  ['tables', tablesArb],
] as readonly (readonly [string, fc.Arbitrary<Query[]>])[])('%s answer what loops over the events answer', async (_, queriesArb) => {
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, queriesArb, async (events, merges, queries) => {
      for (const query of queries) {
        const project = withRules(await pool.filled(query, events, { merges }))
        expect(given(await answerQuery(asWeb(query), project), query)).toEqual(right(afterMerges(events, merges), query))
        for (const value of new Set(webAxes(query))) met.set(value, (met.get(value) ?? 0) + 1)
      }
    }),
    { numRuns: runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(tableArb, { numRuns: 2_000, seed: 1 }).flatMap(webAxes))].sort()
  console.log(all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', '))
  expect(all.length).toBe(25)
  if (runs >= 40) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  const all: fc.Arbitrary<Query[]> = fc.tuple(overviewsArb, tablesArb).map(([one, other]) => [...one, ...other])
  await assertGenerated(
    fc.asyncProperty(webEventsArb, mergesArb, all, async (events, merges, [first, ...others]) => {
      const project = await pool.filled(first!, events, { merges })
      await clickhouse.load(project)
      for (const drawn of [first!, ...others]) {
        // One load serves all queries, so they share a zone.
        const query = { ...drawn, zone: first!.zone, weekStartDay: first!.weekStartDay, cleans: false }
        const answer = await answerOnClickHouse(clickhouse, asWeb(query), project)
        expect(given(answer, query)).toEqual(right(afterMerges(events, merges), query))
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})
