import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../../../src/queries/funnels/index.ts'
import type { TimeToConvert } from '../../../src/queries/funnels/time-to-convert.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { openTestProject, type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { fillStore, type StoreEvent } from '../../harness/store.ts'
import {
  afterMerges,
  asQuery,
  comparedArb,
  compareFilterOf,
  eventsArb,
  mergesArb,
  persons,
  type ReferenceComparison,
} from '../../reference/funnel-cases.ts'
import { type ReferenceFunnel, type ReferenceOutcome, referenceOutcomes, referenceTimes } from '../../reference/funnel-queries.ts'
import { type Point, pointsOf, rounded } from './expected.ts'

// The halves of a compared funnel are what the funnel answers for each period by itself, in all views, and so are the lists of their actors.

const runs = Number(process.env.WAYMARK_RUNS ?? 10)
const groups = ['g1', 'g2'].map((key) => ({ index: 0, key }))
const cohorts = { 1: [1, 2], 2: [3] }
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

type Merges = readonly (readonly [number, number])[]
const fill = (events: readonly StoreEvent[], merges: Merges) =>
  fillStore(project, { events, persons, merges, groups, cohorts, isFresh: true })

interface Drawn extends ReferenceComparison {
  /** In place of the properties of the breakdown. */
  readonly isByCohort: boolean
  /** In place of the view by steps. */
  readonly isFlow: boolean
}
const drawnArb: fc.Arbitrary<Drawn> = fc
  .record({ compared: comparedArb, isByCohort: fc.constantFrom(false, false, true), isFlow: fc.boolean() })
  .map(({ compared, ...drawn }) => ({ ...compared, ...drawn }))
const byCohort = { breakdownFilter: { breakdown: [1, 2, 'all'], breakdown_type: 'cohort' } }

function queryOf(funnel: ReferenceFunnel, { isByCohort, isFlow }: Drawn) {
  const query = asQuery(funnel)
  const { funnelsFilter } = query
  return {
    ...query,
    ...(isFlow && funnel.viz === 'steps' && { funnelsFilter: { ...funnelsFilter, funnelVizType: 'flow' } }),
    ...(isByCohort && funnel.viz !== 'time_to_convert' && byCohort),
  }
}
const compared = (drawn: Drawn) => ({ ...queryOf(drawn.current, drawn), compareFilter: compareFilterOf(drawn) })

interface Row {
  readonly compare_label?: unknown
}
const labelOf = (row: unknown) => ((Array.isArray(row) ? row[0] : row) as Row).compare_label
const unlabelled = (row: unknown): unknown => {
  if (Array.isArray(row)) return row.map(unlabelled)
  const { compare, compare_label, ...own } = row as Row & { readonly compare?: unknown }
  return own
}
const half = ({ results }: FunnelsAnswer, label: 'current' | 'previous') =>
  (results as readonly unknown[]).filter((row) => labelOf(row) === label).map(unlabelled)

const timesOf = (outcomes: readonly ReferenceOutcome[], others: readonly ReferenceOutcome[], funnel: ReferenceFunnel) => {
  const { average, median, bins } = referenceTimes(outcomes, funnel, others)
  return { average_conversion_time: average, median_conversion_time: median, bins }
}

test('both halves are the answers for each period by itself', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, fc.array(drawnArb, { minLength: 3, maxLength: 5 }), async (events, merges, all) => {
      await fill(events, merges)
      for (const drawn of all)
        for (const road of [project, withoutLists(project)]) {
          const [both, current, previous] = (await Promise.all(
            [compared(drawn), queryOf(drawn.current, drawn), queryOf(drawn.previous, drawn)].map((query) => answerQuery(query, road)),
          )) as [FunnelsAnswer, FunnelsAnswer, FunnelsAnswer]
          expect(both.resolved_date_range).toEqual(current.resolved_date_range)
          expect(both.resolved_compare_date_range).toEqual(previous.resolved_date_range)
          expect('compare_results' in current).toBe(false)
          if (drawn.current.viz === 'time_to_convert') {
            const [own, others] = [drawn.current, drawn.previous].map((funnel) => referenceOutcomes(afterMerges(events, merges), funnel))
            expect(rounded(both.results)).toEqual(rounded(timesOf(own!, others!, drawn.current)))
            expect(rounded(both.compare_results)).toEqual(rounded(timesOf(others!, own!, drawn.current)))
            const { bins: _, ...numbers } = previous.results as TimeToConvert
            expect(rounded(both.compare_results)).toMatchObject(rounded(numbers) as object)
            continue
          }
          expect('compare_results' in both).toBe(false)
          expect(rounded(half(both, 'current'))).toEqual(rounded(current.results))
          expect(rounded(half(both, 'previous'))).toEqual(rounded(previous.results))
          expect(rounded(both.total_median_conversion_time ?? null)).toEqual(rounded(current.total_median_conversion_time ?? null))
        }
    }),
    { numRuns: runs },
  )
}, 600_000)

const listOf = async (source: object, point: Point): Promise<readonly unknown[]> => {
  const query = {
    kind: 'ActorsQuery',
    source: { kind: 'FunnelsActorsQuery', source, ...point },
    select: ['id', 'step_timestamps'],
    orderBy: [],
    limit: 1000,
  }
  return ((await answerQuery(query, project)) as { results: unknown[] }).results.map((row) => JSON.stringify(row)).sort()
}

test('the actors of the previous period are those of the funnel in that period', async () => {
  const people = drawnArb.filter(({ current }) => current.actor !== 'property')
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, people, fc.nat(), async (events, merges, drawn, place) => {
      await fill(events, merges)
      const alone = queryOf(drawn.previous, drawn)
      const { results } = (await answerQuery(alone, project)) as FunnelsAnswer
      const points: readonly Point[] =
        drawn.current.viz === 'time_to_convert'
          ? [{ funnelStep: 2 }, { funnelStep: -2 }]
          : pointsOf(drawn.previous, results, referenceOutcomes(afterMerges(events, merges), drawn.previous)).map(([point]) => point)
      const asked = [...points, ...points].slice(points.length && place % points.length).slice(0, 6)
      for (const point of asked)
        expect(await listOf(compared(drawn), { ...point, compare: 'previous' })).toEqual(await listOf(alone, point))
    }),
    { numRuns: runs },
  )
}, 600_000)

test.skipIf(!hasClickHouse)(
  'ClickHouse compares too',
  async () => {
    await assertGenerated(
      fc.asyncProperty(eventsArb, mergesArb, fc.array(drawnArb, { minLength: 2, maxLength: 3 }), async (events, merges, all) => {
        await fill(events, merges)
        await clickhouse.load(project)
        for (const drawn of all) {
          const here = (await answerQuery(compared(drawn), project)) as FunnelsAnswer
          const there = (await answerOnClickHouse(clickhouse, compared(drawn), project)) as FunnelsAnswer
          for (const name of ['results', 'compare_results', 'resolved_compare_date_range'] as const)
            expect([name, rounded(there[name] ?? null)]).toEqual([name, rounded(here[name] ?? null)])
        }
      }),
      { numRuns: Math.ceil(runs / 3) },
    )
  },
  600_000,
)
