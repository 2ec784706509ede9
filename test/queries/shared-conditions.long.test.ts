import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../../src/queries/funnels/index.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { answerOnClickHouse } from '../harness/clickhouse-answer.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'
import { fillStore, type StoreEvent } from '../harness/store.ts'
import { afterMerges, asQuery, eventsArb, excludingArb, filtersOfStep, funnelArb, mergesArb, persons } from '../reference/funnel-cases.ts'
import { isStep, type ReferenceStep, referenceOutcomes } from '../reference/funnel-queries.ts'
import { expectAnswer } from './funnels/expected.ts'

// Conditions that meet in one question: the same event with other filters, actions of several steps, two entities of a retention, exclusions of the same steps. The
// folds hold them as bits, and each must be what it is alone. Drawn from fixed seeds, on all roads and both engines, against loops over the events.

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
/** Any of its steps. */
type Entity = readonly ReferenceStep[]

const day = 86_400_000_000
const firstDay = Date.parse('2024-01-02T00:00:00Z') * 1000
const days = 3
const dateRange = { date_from: '2024-01-02', date_to: '2024-01-04' }
const inRange = (events: readonly StoreEvent[]) => events.filter(({ at }) => at >= firstDay && at < firstDay + days * day)
const dayOf = ({ at }: StoreEvent) => Math.floor((at - firstDay) / day)
const isIn = (event: StoreEvent, entity: Entity) => entity.some((step) => isStep(event, step))
const peopleOf = (events: readonly StoreEvent[]) => new Set(events.map(({ person }) => person))

const entityArb: fc.Arbitrary<Entity> = fc.oneof(
  excludingArb.map((step) => [step]),
  fc.array(excludingArb, { minLength: 2, maxLength: 3 }),
)
/** Filters of the whole question: any of them, each of an event or of its person. */
const scopeArb = fc.constantFrom<readonly ReferenceStep[]>(
  [],
  [],
  [
    { event: null, k: '0' },
    { event: null, p: '0' },
  ],
  [
    { event: null, k: '1', p: '1' },
    { event: null, p: '0' },
  ],
)
const isInScope = (event: StoreEvent, scope: readonly ReferenceStep[]) => scope.length === 0 || isIn(event, scope)
const scopeFilter = (scope: readonly ReferenceStep[]) =>
  scope.length > 0 && { properties: { type: 'OR', values: scope.map((step) => ({ type: 'AND', values: filtersOfStep(step) })) } }

const questionArb = fc.record({ entities: fc.array(entityArb, { minLength: 2, maxLength: 4 }), scope: scopeArb })
type Question = typeof questionArb extends fc.Arbitrary<infer Q> ? Q : never

/** Entities of several steps are actions, numbered by their places. */
const actionsOf = ({ entities }: Question) =>
  entities.map((entity, id) => ({
    id: id + 1,
    definition: JSON.stringify({
      name: `action ${id}`,
      steps: entity.map((step) => ({ event: step.event, properties: filtersOfStep(step) })),
    }),
  }))
const nodeOf = (entity: Entity, place: number, isAction: boolean) =>
  isAction || entity.length > 1
    ? { kind: 'ActionsNode', id: place + 1 }
    : { kind: 'EventsNode', event: entity[0]!.event, properties: filtersOfStep(entity[0]!) }
const retained = (entity: Entity, place: number) =>
  entity.length > 1 ? { id: place + 1, type: 'actions' } : { id: entity[0]!.event, type: 'events', properties: filtersOfStep(entity[0]!) }

const fill = async (events: readonly StoreEvent[], merges: Merges, question: Question | null) => {
  await fillStore(project, { events, persons, merges, actions: question ? actionsOf(question) : [], isFresh: true })
  if (hasClickHouse) await clickhouse.load(project)
}

/** The answers of the two roads and of the other engine. */
async function answers(query: { readonly kind: string }): Promise<readonly { readonly results: unknown }[]> {
  const found: object[] = []
  for (const road of ['core', 'sql']) found.push(await answerQuery({ ...query, modifiers: { road } }, project))
  if (hasClickHouse) found.push(await answerOnClickHouse(clickhouse, query, project))
  return found as readonly { readonly results: unknown }[]
}

const seeds = [1, 2]
describe.each(seeds)('seed %i', (seed) => {
  const events: readonly StoreEvent[] = fc.sample(eventsArb, { numRuns: 1, seed })[0]!
  const [merges] = fc.sample(mergesArb, { numRuns: 1, seed }) as [Merges]
  const questions = fc.sample(questionArb, { numRuns: 4, seed })
  const merged = inRange(afterMerges(events, merges))

  test('series of trends, their persons, and days of stickiness', async () => {
    for (const question of questions) {
      await fill(events, merges, question)
      const { entities, scope } = question
      const counted = entities.map((entity) => merged.filter((event) => isIn(event, entity) && isInScope(event, scope)))
      for (const math of ['total', 'dau'] as const) {
        const series = entities.map((entity, i) => ({ ...nodeOf(entity, i, i % 2 === 1), math }))
        const query = { kind: 'TrendsQuery', series, dateRange, trendsFilter: { display: 'BoldNumber' }, ...scopeFilter(scope) }
        const right = counted.map((some) => (math === 'total' ? some.length : peopleOf(some).size))
        for (const { results } of await answers(query))
          expect((results as { aggregated_value: number }[]).map(({ aggregated_value }) => aggregated_value)).toEqual(right)
      }
      const series = entities.map((entity, i) => nodeOf(entity, i, false))
      const sticky = counted.map((some) => {
        const ofPerson = [...peopleOf(some)].map((person) => new Set(some.filter((e) => e.person === person).map(dayOf)).size)
        return Array.from({ length: days }, (_, i) => ofPerson.filter((number) => number === i + 1).length)
      })
      for (const { results } of await answers({ kind: 'StickinessQuery', series, dateRange, ...scopeFilter(scope) } as never))
        expect((results as { data: number[] }[]).map(({ data }) => data)).toEqual(sticky)
    }
  })

  test('the two entities of a retention', async () => {
    for (const question of questions) {
      await fill(events, merges, question)
      const { entities, scope } = question
      const on = (place: number, at: number) =>
        peopleOf(merged.filter((event) => dayOf(event) === at && isIn(event, entities[place]!) && isInScope(event, scope)))
      const right = Array.from({ length: days }, (_, row) => {
        const started = on(0, row)
        return Array.from({ length: days - row }, (_, value) => {
          const back = value === 0 ? started : on(1, row + value)
          return [...started].filter((person) => back.has(person)).length
        })
      })
      const query = {
        kind: 'RetentionQuery',
        dateRange: { date_from: dateRange.date_from, date_to: dateRange.date_to },
        retentionFilter: {
          period: 'Day',
          totalIntervals: days,
          targetEntity: retained(entities[0]!, 0),
          returningEntity: retained(entities[1]!, 1),
        },
        ...scopeFilter(scope),
      }
      for (const { results } of await answers(query)) {
        const rows = results as { values: { count: number }[] }[]
        expect(rows.map(({ values }, row) => values.slice(0, days - row).map(({ count }) => count))).toEqual(right)
      }
    }
  })

  test('what a goal makes of the series of a trend and of a heat map', async () => {
    for (const question of questions) {
      await fill(events, merges, question)
      const { entities, scope } = question
      const eventsOf = (entity: Entity) => merged.filter((event) => isIn(event, entity) && isInScope(event, scope))
      const [seen, goal] = [eventsOf(entities[0]!), eventsOf(entities[1]!)]
      for (const math of ['total', 'dau'] as const) {
        const numberOf = (some: readonly StoreEvent[]) => (math === 'total' ? some.length : peopleOf(some).size)
        const rate = (some: readonly StoreEvent[], all: readonly StoreEvent[]) => (all.length === 0 ? 0 : numberOf(some) / numberOf(all))
        const query = {
          kind: 'TrendsQuery',
          series: [{ ...nodeOf(entities[0]!, 0, false), math }],
          dateRange,
          conversionGoal: { actionId: 2 },
          ...scopeFilter(scope),
        }
        const byDay = (some: readonly StoreEvent[]) => Array.from({ length: days }, (_, at) => some.filter((event) => dayOf(event) === at))
        for (const { results } of await answers(query)) {
          const [row] = results as [{ data: number[]; conversions: number[]; conversion_rates: number[] }]
          expect(row.data).toEqual(byDay(seen).map(numberOf))
          expect(row.conversions).toEqual(byDay(goal).map(numberOf))
          expect(row.conversion_rates).toEqual(byDay(goal).map((some, at) => rate(some, byDay(seen)[at]!)))
        }
        const cellOf = ({ at }: StoreEvent) => {
          const time = new Date(at / 1000)
          return `${time.getUTCDay() || 7} ${time.getUTCHours()}`
        }
        const inCell = (some: readonly StoreEvent[], cell: string) => some.filter((event) => cellOf(event) === cell)
        const cells = [...new Set(goal.map(cellOf))].map((cell): readonly [string, number, number] => [
          cell,
          numberOf(inCell(goal, cell)),
          rate(inCell(goal, cell), inCell(seen, cell)),
        ])
        for (const { results } of await answers({ ...query, trendsFilter: { display: 'CalendarHeatmap' } } as never)) {
          const [{ calendar_heatmap_data: map }] = results as [
            {
              calendar_heatmap_data: {
                data: { row: number; column: number; value: number; rate: number }[]
                allAggregations: number
                rate: number
              }
            },
          ]
          expect(map.data.map(({ row, column, value, rate: share }) => [`${row} ${column}`, value, share]).sort()).toEqual(
            [...cells].sort(),
          )
          expect([map.allAggregations, map.rate]).toEqual([numberOf(goal), rate(goal, seen)])
        }
        const source = { kind: 'InsightActorsQuery', source: { ...query, trendsFilter: { display: 'CalendarHeatmap' } }, series: 0 }
        for (const { results } of await answers({ kind: 'ActorsQuery', source, select: ['id'] } as never))
          expect((results as unknown[]).length).toBe(peopleOf(goal).size)
      }
    }
  })

  test('lifecycles and paths are the same on all roads', async () => {
    for (const question of questions) {
      await fill(events, merges, question)
      const { entities, scope } = question
      const lifecycle = { kind: 'LifecycleQuery', series: [nodeOf(entities[0]!, 0, true)], dateRange, ...scopeFilter(scope) }
      const paths = { kind: 'PathsQuery', dateRange, pathsFilter: { stepLimit: 3 }, ...scopeFilter(scope) }
      for (const query of [lifecycle, paths]) {
        const [first, ...others] = (await answers(query)).map(({ results }) => results)
        for (const other of others) expect(other).toEqual(first)
      }
    }
  })

  test('funnels with several exclusions, and steps of the same event', async () => {
    await fill(events, merges, null)
    // The lists know no expressions as actors.
    const excluding = funnelArb.filter(({ exclusions, actor }) => exclusions.length >= 2 && actor !== 'property')
    for (const viz of ['steps', 'trends', 'time_to_convert'] as const)
      for (const order of ['ordered', 'strict', 'unordered'] as const) {
        const asked = excluding.filter((funnel) => funnel.viz === viz && funnel.order === order)
        for (const funnel of fc.sample(asked, { numRuns: 1, seed })) {
          const right = referenceOutcomes(afterMerges(events, merges), funnel)
          const found = (await answers(asQuery(funnel))) as unknown as readonly FunnelsAnswer[]
          for (const answer of found) expectAnswer(answer, right, funnel)
        }
      }
  }, 900_000)
})
