import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { RetentionAnswer } from '../../../src/queries/retention/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { projectPool } from '../../harness/projects.ts'
import { type ReferenceRetention, type ReferenceRetentionRow, referenceRetention, rowNames } from '../../reference/retention.ts'
import { asRetention, retentionArb, retentionAxes } from '../../reference/retention-cases.ts'
import { afterMerges, eventArb, mergesArb } from '../../reference/trends-cases.ts'

// RetentionQuery over generated events equals loops over the events, on both roads, and the actors of every number are as many as the number.

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
const queriesArb = fc.array(retentionArb, { minLength: 1, maxLength: 6, size: 'max' })

const round = (numbers: readonly number[]) => numbers.map((n) => Number(n.toFixed(6)))
const rowsOf = ({ results }: RetentionAnswer, query: ReferenceRetention): ReferenceRetentionRow[] =>
  results.map(({ breakdown_value, date, values, compare_label }) => ({
    period: compare_label ?? null,
    breakdown: breakdown_value,
    date: date.slice(0, query.period === 'Hour' ? 13 : 10).replace('T', ' '),
    counts: values.map(({ count }) => count),
    sums: query.sum ? round(values.map(({ aggregation_value: sum }) => sum!)) : null,
  }))
const expected = (events: Parameters<typeof referenceRetention>[0], query: ReferenceRetention) =>
  referenceRetention(events, query).map((row) => ({ ...row, sums: row.sums && round(row.sums) }))

const met = new Map<string, number>()

test('generated retentions over generated events answer what loops over the events answer', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        const right = expected(afterMerges(events, merges), query)
        const ask = async (road: 'core' | 'sql') =>
          rowsOf((await answerQuery({ ...asRetention(query), modifiers: { road } }, project)) as RetentionAnswer, query)
        expect(await ask('sql')).toEqual(right)
        expect(await ask('core')).toEqual(right)
        for (const value of new Set(retentionAxes(query))) met.set(value, (met.get(value) ?? 0) + 1)
      }
    }),
    { numRuns: runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(retentionArb, { numRuns: 2_000, seed: 1 }).flatMap(retentionAxes))].sort()
  console.log(all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', '))
  expect(all.length).toBe(35)
  if (runs >= 40) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

const persons = [1, 2, 3, 4, 5].map((person) => ({ person, hasRecord: person !== 1 }))

test('as many actors are listed as each number says', async () => {
  const whole = retentionArb.filter(({ sample }) => sample === undefined)
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, whole, fc.nat(), async (events, merges, query, place) => {
      const groups = ['g1', 'g2'].map((key) => ({ index: 0, key }))
      const project = await pool.filled(query, events, { merges, groups, persons })
      const { results } = (await answerQuery(asRetention(query), project)) as RetentionAnswer
      const rows = rowNames(query).length
      // In the row Other an actor counts once for each of its values.
      const points = results.flatMap(({ breakdown_value: value, values, compare_label: compare }, i) =>
        [value].flat().some((text) => text?.startsWith('$$_posthog_breakdown_other'))
          ? []
          : values.map(
              ({ count }, day) =>
                [{ interval: i % rows, day, ...(value !== null && { breakdown: value }), ...(compare && { compare }) }, count] as const,
            ),
      )
      // Those with actors, and some without: there is no time for all.
      const filled = points.filter(([, count]) => count > 0)
      const asked = [...around(filled, place, 6), ...around(points, place, 2)]
      for (const [point, count] of asked) {
        const source = { kind: 'InsightActorsQuery', source: asRetention(query), ...point }
        const answer = (await answerQuery({ kind: 'ActorsQuery', source, select: ['id', 'appearances'], orderBy: [] }, project)) as {
          results: [string, number[]][]
        }
        expect([point, answer.results.length]).toEqual([point, count])
        for (const [, appearances] of answer.results) {
          expect(appearances).toContain(0)
          if (!query.isCumulative) expect(appearances).toContain(point.day)
        }
      }
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

/** `count` items from an index on. */
const around = <T>(items: readonly T[], place: number, count: number): readonly T[] =>
  items.length <= count ? items : [...items, ...items].slice(place % items.length).slice(0, count)

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, async (events, merges, [first, ...others]) => {
      const project = await pool.filled(first!, events, { merges })
      await clickhouse.load(project)
      for (const drawn of [first!, ...others]) {
        // One load serves all queries, so they share a zone; hours need one without a change of clocks.
        if (drawn.period === 'Hour' && first!.zone !== drawn.zone) continue
        const query = { ...drawn, zone: first!.zone, weekStartDay: first!.weekStartDay }
        const answer = (await answerOnClickHouse(clickhouse, asRetention(query), project)) as RetentionAnswer
        expect(rowsOf(answer, query)).toEqual(expected(afterMerges(events, merges), query))
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})
