import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../../../src/queries/funnels/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { openTestProject, type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { fillStore, type StoreEvent } from '../../harness/store.ts'
import { afterMerges, asQuery, eventsArb, funnelArb, mergesArb, persons } from '../../reference/funnel-cases.ts'
import { type ReferenceFunnel, referenceOutcomes } from '../../reference/funnel-queries.ts'
import { expectAnswer, listQuery, type Point, pointsOf, rounded } from './expected.ts'

// FunnelsQuery over generated events equals loops over the events, and the persons of every number are as many as the number. WAYMARK_RUNS asks
// for more than the default run.

const fills = Number(process.env.WAYMARK_RUNS ?? 24)
const groups = ['g1', 'g2'].map((key) => ({ index: 0, key }))
let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
})
afterAll(() => project.close())

type Merges = readonly (readonly [number, number])[]
const fill = (events: readonly StoreEvent[], merges: Merges) => fillStore(project, { events, persons, merges, groups, isFresh: true })
const answered = async (funnel: ReferenceFunnel, road = project) => (await answerQuery(asQuery(funnel), road)) as FunnelsAnswer
const ask = async (funnel: ReferenceFunnel) => (await answered(funnel)).results

test('generated funnels over generated events answer what loops over the events answer', async () => {
  const funnels = fc.array(funnelArb, { minLength: 3, maxLength: 5, size: 'max' })
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, funnels, async (events, merges, drawn) => {
      await fill(events, merges)
      for (const funnel of drawn)
        for (const road of [project, withoutLists(project)])
          expectAnswer(await answered(funnel, road), referenceOutcomes(afterMerges(events, merges), funnel), funnel)
    }),
    { numRuns: fills },
  )
}, 600_000)

test('it does not matter in which order events arrived', async () => {
  const shuffled = eventsArb.chain((events) => fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })))
  await assertGenerated(
    fc.asyncProperty(
      shuffled,
      mergesArb,
      fc.array(funnelArb, { minLength: 3, maxLength: 3 }),
      async ([events, others], merges, funnels) => {
        const answers: unknown[] = []
        for (const order of [events, others]) {
          await fill(order, merges)
          for (const funnel of funnels) answers.push(rounded(await ask(funnel)))
        }
        expect(answers.slice(funnels.length)).toEqual(answers.slice(0, funnels.length))
      },
    ),
    { numRuns: Math.ceil(fills / 4) },
  )
}, 600_000)

async function listed(funnel: ReferenceFunnel, point: Point): Promise<readonly unknown[]> {
  const { results } = (await answerQuery(listQuery(funnel, point, ['id']), project)) as { results: [unknown][] }
  return results.map(([id]) => id)
}

test('as many people are listed as each number says', async () => {
  const people = funnelArb.filter(({ actor }) => actor !== 'property')
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, people, fc.nat(), async (events, merges, funnel, place) => {
      await fill(events, merges)
      const points = pointsOf(funnel, await ask(funnel), referenceOutcomes(afterMerges(events, merges), funnel))
      // There is no time for all numbers of an answer.
      const asked = points.length > 8 ? [...points, ...points].slice(place % points.length).slice(0, 8) : points
      for (const [point, count] of asked) expect([point, (await listed(funnel, point)).length]).toEqual([point, count])
    }),
    { numRuns: fills },
  )
}, 600_000)
