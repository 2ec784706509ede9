import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { StickinessAnswer } from '../../../src/queries/stickiness/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { projectPool } from '../../harness/projects.ts'
import { type ReferenceStickyRow, referenceStickiness } from '../../reference/stickiness.ts'
import { asStickiness, stickinessArb, stickinessAxes } from '../../reference/stickiness-cases.ts'
import { afterMerges, eventArb, mergesArb } from '../../reference/trends-cases.ts'

// StickinessQuery over generated events equals loops over the events, on both roads, and the actors of every number are as many as the number.

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
const queriesArb = fc.array(stickinessArb, { minLength: 1, maxLength: 6, size: 'max' })

const rowsOf = ({ results }: StickinessAnswer): ReferenceStickyRow[] =>
  results.map(({ action, compare_label, data, count, days, labels }) => {
    expect([days.length, labels.length]).toEqual([data.length, data.length])
    return { series: action.order, period: compare_label ?? null, data, count }
  })

const met = new Map<string, number>()

test('generated queries over generated events answer what loops over the events answer', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        const right = referenceStickiness(afterMerges(events, merges), query)
        const ask = async (road: 'core' | 'sql') =>
          rowsOf((await answerQuery({ ...asStickiness(query), modifiers: { road } }, project)) as StickinessAnswer)
        expect(await ask('sql')).toEqual(right)
        const isListed = query.series.every(({ actor }) => actor !== 'property')
        if (isListed) expect(await ask('core')).toEqual(right)
        for (const value of new Set(stickinessAxes(query))) met.set(value, (met.get(value) ?? 0) + 1)
      }
    }),
    { numRuns: runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(stickinessArb, { numRuns: 2_000, seed: 1 }).flatMap(stickinessAxes))].sort()
  console.log(all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', '))
  expect(all.length).toBe(23)
  if (runs >= 40) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

const persons = [1, 2, 3, 4, 5].map((person) => ({ person, hasRecord: person !== 1 }))

test('as many actors are listed as each number says', async () => {
  const whole = stickinessArb.filter(({ sample, series }) => sample === undefined && series.every(({ actor }) => actor !== 'property'))
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, whole, fc.nat(), async (events, merges, query, place) => {
      const groups = ['g1', 'g2'].map((key) => ({ index: 0, key }))
      const project = await pool.filled(query, events, { merges, groups, persons })
      const { results } = (await answerQuery(asStickiness(query), project)) as StickinessAnswer
      const points = results.flatMap(({ action, compare_label: compare, data, days }) =>
        data.map((count, i) => [{ series: action.order, day: days[i], ...(compare && { compare }) }, count] as const),
      )
      const filled = points.filter(([, count]) => count > 0)
      for (const [point, count] of [...around(filled, place, 6), ...around(points, place, 2)])
        for (const kind of ['InsightActorsQuery', 'StickinessActorsQuery']) {
          const source = { kind, source: asStickiness(query), ...point }
          const answer = (await answerQuery({ kind: 'ActorsQuery', source, select: ['id'], orderBy: [] }, project)) as {
            results: unknown[]
          }
          expect([point, answer.results.length]).toEqual([point, count])
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
        if (drawn.interval === 'hour' && first!.zone !== drawn.zone) continue
        const query = { ...drawn, zone: first!.zone, weekStartDay: first!.weekStartDay }
        const answer = (await answerOnClickHouse(clickhouse, asStickiness(query), project)) as StickinessAnswer
        expect(rowsOf(answer)).toEqual(referenceStickiness(afterMerges(events, merges), query))
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})
