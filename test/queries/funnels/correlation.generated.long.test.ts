import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { CorrelationAnswer } from '../../../src/queries/funnels/correlation/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { openTestProject, type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { fillStore, type StoreEvent } from '../../harness/store.ts'
import { type ReferenceCorrelation, referenceNames, referenceOdds } from '../../reference/correlation.ts'
import { asCorrelation, correlationArb, correlationAxes } from '../../reference/correlation-cases.ts'
import { afterMerges, eventsArb, mergesArb } from '../../reference/funnel-cases.ts'
import { personProperties } from '../../reference/funnel-queries.ts'

// FunnelCorrelationQuery over generated events equals loops over the events, and the actors of every number are as many as the number.

const runs = Number(process.env.WAYMARK_RUNS ?? 24)
let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

/** `p` is what steps ask for. */
const recordOf: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  1: { plan: 'pro', n: 1.5, ...personProperties(1) },
  2: { plan: 'pro', n: null, ...personProperties(2) },
  3: { plan: '', on: true, ...personProperties(3) },
  4: { ...personProperties(4) },
  g1: { plan: 'pro', n: 2 },
}
const persons = [1, 2, 3, 4].map((person) => ({ person, properties: recordOf[person]! }))
const groups = [{ index: 0, key: 'g1', properties: recordOf.g1! }]

type Merges = readonly (readonly [number, number])[]
const fill = (events: readonly StoreEvent[], merges: Merges) => fillStore(project, { events, persons, merges, groups, isFresh: true })
const expected = (events: readonly StoreEvent[], merges: Merges, query: ReferenceCorrelation) =>
  referenceNames(afterMerges(events, merges), recordOf, query)

const met = new Map<string, number>()

function expectRight({ results, hasMore }: CorrelationAnswer, right: ReturnType<typeof referenceNames>): void {
  const odds = referenceOdds(right)
  const success = odds.filter((one) => one.odds > 1)
  const failure = odds.filter((one) => one.odds <= 1)
  const shown = [...success.slice(0, 10), ...failure.slice(0, 10)]
  expect([results.success_total, results.failure_total]).toEqual([right.all.successes, right.all.failures])
  expect(hasMore).toBe(success.length > 10 || failure.length > 10)
  expect(results.events.map(({ event, success_count, failure_count }) => [event.event, success_count, failure_count])).toEqual(
    shown.map(({ name, successes, failures }) => [name, successes, failures]),
  )
  for (const [i, one] of results.events.entries()) {
    expect(one.odds_ratio).toBeCloseTo(shown[i]!.odds, 9)
    expect(one.p_value).toBeCloseTo(shown[i]!.p, 9)
  }
}

test('generated correlations over generated events answer what loops over the events answer', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, fc.array(correlationArb, { minLength: 3, maxLength: 5 }), async (events, merges, queries) => {
      await fill(events, merges)
      for (const query of queries) {
        const right = expected(events, merges, query)
        for (const road of [project, withoutLists(project)])
          expectRight((await answerQuery(asCorrelation(query), road)) as CorrelationAnswer, right)
        for (const value of correlationAxes(query)) met.set(value, (met.get(value) ?? 0) + 1)
      }
    }),
    { numRuns: runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(correlationArb, { numRuns: 2_000, seed: 1 }).flatMap(correlationAxes))].sort()
  console.log(all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', '))
  expect(all.length).toBe(16)
  if (runs >= 24) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

test('as many actors are listed as each number says', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, correlationArb, fc.nat(), async (events, merges, query, place) => {
      await fill(events, merges)
      const { names } = expected(events, merges, query)
      const name = names[place % Math.max(1, names.length)]
      if (!name) return
      const [first, ...rest] = name.name.split('::')
      const isOfProperties = query.type === 'properties'
      const type = query.funnel.actor === 'group' ? { type: 'group', group_type_index: 0 } : { type: 'person' }
      const filter = (key: string, value: string, more: object) =>
        value === '' && isOfProperties ? null : { key, value: [value], operator: 'exact', ...more }
      const filters = isOfProperties ? [filter(first!, rest.join('::'), type)] : [filter(rest[0]!, rest[1]!, { type: 'event' })]
      if (isOfProperties && filters.includes(null)) return
      const point = isOfProperties
        ? { funnelCorrelationPropertyValues: filters }
        : { funnelCorrelationPersonEntity: { kind: 'EventsNode', event: first, ...(rest.length > 0 && { properties: filters }) } }
      for (const converted of [true, false, null]) {
        const source = {
          kind: 'FunnelCorrelationActorsQuery',
          source: asCorrelation(query),
          ...point,
          funnelCorrelationPersonConverted: converted,
        }
        const answer = (await answerQuery({ kind: 'ActorsQuery', source, select: ['id'], orderBy: [] }, project)) as { results: unknown[] }
        const count = name.actors.filter(({ isConverted }) => converted === null || isConverted === converted).length
        expect([name.name, converted, answer.results.length]).toEqual([name.name, converted, count])
      }
    }),
    { numRuns: runs },
  )
})

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, fc.array(correlationArb, { minLength: 2, maxLength: 3 }), async (events, merges, queries) => {
      await fill(events, merges)
      await clickhouse.load(project)
      for (const query of queries)
        expectRight(
          (await answerOnClickHouse(clickhouse, asCorrelation(query), project)) as CorrelationAnswer,
          expected(events, merges, query),
        )
    }),
    { numRuns: Math.ceil(runs / 3) },
  )
})
