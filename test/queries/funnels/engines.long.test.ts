import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../../../src/queries/funnels/index.ts'
import { funnelsSchema } from '../../../src/queries/funnels/schema.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { fillStore } from '../../harness/store.ts'
import { afterMerges, asQuery, eventsArb, funnelArb, mergesArb, persons } from '../../reference/funnel-cases.ts'
import { referenceOutcomes } from '../../reference/funnel-queries.ts'
import { expectAnswer, listQuery, type Point, pointsOf } from './expected.ts'

// The same generated funnels where the engine folds: one statement whose rows are the numbers.

const loads = Math.ceil(Number(process.env.WAYMARK_RUNS ?? 12) / 4)
const groups = ['g1', 'g2'].map((key) => ({ index: 0, key }))
let project: TestProject
const compared = test.skipIf(!hasClickHouse)

let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

/** In order, with nothing optional or excluded: passes over whole lists find these. */
const plainArb = funnelArb
  .map((funnel) => ({ ...funnel, order: 'ordered' as const, optional: [], exclusions: [] }))
  .filter((funnel) => funnelsSchema.safeParse(asQuery(funnel)).success)

compared.each([
  ['generated', funnelArb],
  ['plain', plainArb],
])(
  'ClickHouse folds %s funnels to what loops over the events answer',
  async (_, drawnArb) => {
    const funnels = fc.array(drawnArb, { minLength: 4, maxLength: 6, size: 'max' })
    await assertGenerated(
      fc.asyncProperty(eventsArb, mergesArb, funnels, async (events, merges, drawn) => {
        await fillStore(project, { events, persons, merges, groups, isFresh: true })
        await clickhouse.load(project)
        for (const funnel of drawn) {
          const answer = (await answerOnClickHouse(clickhouse, asQuery(funnel), project)) as FunnelsAnswer
          expectAnswer(answer, referenceOutcomes(afterMerges(events, merges), funnel), funnel)
        }
      }),
      { numRuns: loads, endOnFailure: true },
    )
  },
  600_000,
)

interface Rows {
  readonly results: readonly (readonly unknown[])[]
}
/** Events with equal times that match the same steps are interchangeable. */
const inOrder = ({ results }: Rows, eventOf: ReadonlyMap<string, unknown>) =>
  results
    .map((row) => JSON.stringify([...row.slice(0, -1), (JSON.parse(row.at(-1) as string) as string[]).map((uuid) => eventOf.get(uuid))]))
    .sort()
const listed = ['id', 'timestamp', 'first_timestamp', 'final_timestamp', 'step_timestamps', 'matching_events']

compared(
  'ClickHouse lists the same people behind a number, with the times of their steps and their events',
  async () => {
    const people = fc.array(
      funnelArb.filter(({ actor }) => actor !== 'property'),
      { minLength: 2, maxLength: 2 },
    )
    await assertGenerated(
      fc.asyncProperty(eventsArb, mergesArb, people, fc.nat(), async (events, merges, drawn, place) => {
        await fillStore(project, { events, persons, merges, groups, isFresh: true })
        await clickhouse.load(project)
        const rows = await project.rows('select toString(uuid), timestamp, person_id, $group_0 from events limit 1000')
        for (const funnel of drawn) {
          // Two persons of a group may have the same event at the same time: it belongs to the group.
          const eventOf = new Map(
            rows.map(([uuid, timestamp, person, group]) => [uuid as string, [timestamp, funnel.actor === 'group' ? group : person]]),
          )
          const { results } = (await answerQuery(asQuery(funnel), project)) as FunnelsAnswer
          const points = pointsOf(funnel, results, referenceOutcomes(afterMerges(events, merges), funnel))
          const depths: Point = { funnelCustomSteps: [2, 1 + (place % 3)] }
          const asked = [...points, ...points].slice(points.length && place % points.length).slice(0, 2)
          for (const [point, count] of [...asked, ...(funnel.viz === 'steps' ? [[depths, null] as const] : [])]) {
            const query = listQuery(funnel, { ...point, includeRecordings: true }, listed)
            const here = inOrder((await answerQuery(query, project)) as unknown as Rows, eventOf)
            expect(inOrder((await answerOnClickHouse(clickhouse, query, project)) as unknown as Rows, eventOf)).toEqual(here)
            if (count !== null) expect(here.length).toBe(count)
          }
        }
      }),
      { numRuns: Math.ceil(loads / 5), endOnFailure: true },
    )
  },
  600_000,
)

const node = (event: string, more = {}) => ({ kind: 'EventsNode', event, ...more })
const dateRange = { date_from: '2024-01-02', date_to: '2024-01-04' }
const query = (parts: object) => ({ kind: 'FunnelsQuery', series: [node('a'), node('b')], dateRange, ...parts })
const cohorts = { 1: [1, 2], 2: [3] }

compared.each<[string, ReturnType<typeof query>]>([
  ['cohorts', query({ breakdownFilter: { breakdown: [1, 2, 'all'], breakdown_type: 'cohort' } })],
  [
    'cohorts by day',
    query({
      breakdownFilter: { breakdown: [1, 2], breakdown_type: 'cohort' },
      funnelsFilter: { funnelVizType: 'trends' },
      interval: 'day',
    }),
  ],
  ['the first event of an actor', query({ series: [node('a', { math: 'first_time_for_user' }), node('b')] })],
  [
    'the first matching event, strict',
    query({
      series: [node('a', { math: 'first_time_for_user_with_filters' }), node('b')],
      funnelsFilter: { funnelOrderType: 'strict' },
    }),
  ],
  ['a range to compare with', query({ compareFilter: { compare: true, compare_to: '-1d' } })],
  ['a property of the person', query({ breakdownFilter: { breakdown: 'plan', breakdown_type: 'person', breakdown_limit: 1 } })],
  ['a sample', query({ samplingFactor: 0.5 })],
  ['thirty-two steps', query({ series: Array.from({ length: 32 }, (_, i) => node(['a', 'b', 'c'][i % 3]!)) })],
  ['nobody', query({ series: [node('nothing'), node('b')] })],
])('both engines agree: %s', async (_, asked) => {
  const hour = 3_600_000_000
  const start = Date.parse('2024-01-01T20:00:00Z') * 1000
  const events = Array.from({ length: 120 }, (_, i) => ({
    event: ['a', 'b', 'c'][(i * 7 + (i >> 3)) % 3]!,
    person: (i % 4) + 1,
    at: start + Math.floor(i / 2) * hour,
  }))
  const persons = [1, 2, 3, 4].map((person) => ({ person, properties: { plan: person % 2 ? 'free' : 'pro' } }))
  await fillStore(project, { events, persons, cohorts, merges: [[4, 1]], isFresh: true })
  await clickhouse.load(project)
  const here = (await answerQuery(asked, project)) as FunnelsAnswer
  const there = (await answerOnClickHouse(clickhouse, asked, project)) as FunnelsAnswer
  expect(there.results).toEqual(here.results)
})

compared('an event that matches two steps serves one of them, and another event of the same time the other', async () => {
  const at = Date.parse('2024-01-02T10:00:00Z') * 1000
  const events = ['b', 'a'].map((event) => ({ event, person: 1, at }))
  await fillStore(project, { events: [...events, { event: 'a', person: 2, at }], persons, isFresh: true })
  await clickhouse.load(project)
  const asked = query({ series: [node('a'), { kind: 'EventsNode', event: null }] })
  const counts = async (answer: Promise<object>) => ((await answer) as { results: { count: number }[] }).results.map(({ count }) => count)
  expect(await counts(answerQuery(asked, project))).toEqual([2, 1])
  expect(await counts(answerOnClickHouse(clickhouse, asked, project))).toEqual([2, 1])
})
