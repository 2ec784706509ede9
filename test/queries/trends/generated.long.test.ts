import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { withoutLists } from '../../harness/duckdb.ts'
import { projectPool } from '../../harness/projects.ts'
import { type ReferenceEvent, type ReferenceQuery, type ReferenceRow, referenceTrends } from '../../reference/trends.ts'
import { afterMerges, asQuery, axesOf, eventArb, inZone, mergesArb, queryArb } from '../../reference/trends-cases.ts'

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
const eventsArb = fc.array(eventArb, { maxLength: 60, size: 'max' })
const queriesArb = fc.array(queryArb, { minLength: 1, maxLength: 6, size: 'max' })

const round = (data: readonly number[]) => data.map((n) => Number(n.toFixed(6)))
const rowsOf = ({ results }: TrendsResponse, query: ReferenceQuery): ReferenceRow[] =>
  results.map((row) => ({
    series: row.order,
    breakdown: (row.breakdown_value as string | undefined) ?? null,
    data: round(query.isTotal ? [row.aggregated_value!] : row.data!),
  }))
const expected = (events: readonly ReferenceEvent[], query: ReferenceQuery) =>
  referenceTrends(events, query).map((row) => ({ ...row, data: round(row.data) }))

/** How often the queries had each value of an axis, and which pairs of values occurred in one query. */
const met = new Map<string, number>()
const pairs = new Set<string>()
function note(query: ReferenceQuery): void {
  const values = [...new Set(axesOf(query))]
  for (const value of values) met.set(value, (met.get(value) ?? 0) + 1)
  for (const [i, value] of values.entries()) for (const other of values.slice(i + 1)) pairs.add(`${value} × ${other}`)
}

test('generated queries over generated events answer what loops over the events answer', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        const answer = (await answerQuery(asQuery(query), project)) as TrendsResponse
        expect(rowsOf(answer, query)).toEqual(expected(afterMerges(events, merges), query))
        const statements = (await answerQuery(asQuery(query), withoutLists(project))) as TrendsResponse
        expect(rowsOf(statements, query)).toEqual(rowsOf(answer, query))
        note(query)
        const first = query.isTotal ? undefined : answer.results[0]
        if (first) expect(first.days.length).toBe(first.data!.length)
      }
    }),
    { numRuns: runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(queryArb, { numRuns: 3_000, seed: 1 }).flatMap(axesOf))].sort()
  console.log(`${pairs.size} pairs of values; ${all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', ')}`)
  // A few hundred queries cover each interval many times; one of the rarer maths may be missing.
  const often = all.filter((value) => /^interval |^sampled$|^no formula$|^broken down$|^running total$/.test(value))
  expect(often.length).toBe(12)
  if (runs >= 40) expect(often.filter((value) => !met.has(value))).toEqual([])
  if (runs >= 40) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, async (events, merges, [first, ...others]) => {
      // One load serves all queries, so they share a zone.
      const project = await pool.filled(first!, events, { merges })
      await clickhouse.load(project)
      for (const drawn of [first!, ...others]) {
        const query = inZone(drawn, first!)
        const answer = (await answerOnClickHouse(clickhouse, asQuery(query), project)) as TrendsResponse
        expect(rowsOf(answer, query)).toEqual(expected(afterMerges(events, merges), query))
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})
