import fc from 'fast-check'
import { funnelsSchema } from '../../src/queries/funnels/schema.ts'
import type { StoreEvent } from '../harness/store.ts'
import { personProperties, type ReferenceFunnel, type ReferenceStep } from './funnel-queries.ts'

// Few actors and values, few instants so that many are shared, windows that events meet at their exact edge; funnels along all their axes.

const hour = 3_600_000_000
const firstDay = Date.parse('2024-01-02T00:00:00Z') * 1000
const days = 3

const textArb = fc.constantFrom<string | number | null | undefined>(undefined, null, '', 'null', 'A', 'B', 0)
const eventArb: fc.Arbitrary<StoreEvent> = fc.record({
  event: fc.constantFrom('a', 'a', 'b', 'b', 'c', 'x', 'noise'),
  person: fc.integer({ min: 1, max: 4 }),
  // From the last hours before the range to the first ones behind it; now and then a microsecond off.
  at: fc
    .tuple(fc.integer({ min: -1, max: (days * 24) / 4 }), fc.constantFrom(0, 0, 0, 0, 0, -1, 1))
    .map(([place, off]) => firstDay + place * 4 * hour + off),
  groups: fc.constantFrom([''], ['g1'], ['g2']),
  properties: fc.record({ v: textArb, w: fc.constantFrom('', 'Z'), k: fc.constantFrom('0', '1') }, { requiredKeys: ['k'] }),
})
export const eventsArb = fc.array(eventArb, { minLength: 1, maxLength: 45, size: 'max' })
export const mergesArb = fc.constantFrom<readonly (readonly [number, number])[]>(
  [],
  [],
  [[4, 1]],
  [
    [4, 1],
    [3, 2],
  ],
)

const stepArb: fc.Arbitrary<ReferenceStep> = fc.constantFrom(
  { event: 'a' },
  { event: 'a' },
  { event: 'b' },
  { event: 'b' },
  { event: 'c' },
  { event: 'a', k: '1' },
  { event: 'a', k: '0' },
  { event: 'b', p: '0' },
  { event: null, k: '1' },
  { event: null },
)
/** Some with the same event and other filters, so that several of them concern the same steps. */
export const excludingArb: fc.Arbitrary<ReferenceStep> = fc.constantFrom(
  { event: 'x' },
  { event: 'x', k: '0' },
  { event: 'x', k: '1' },
  { event: 'x', p: '0' },
  { event: 'x', k: '1', p: '1' },
  { event: 'c' },
  { event: 'c', k: '0' },
  { event: 'noise', k: '1' },
  { event: null, k: '0' },
)
const lastMicrosecond = firstDay + days * 24 * hour - 1

const shapeArb = fc.integer({ min: 2, max: 4 }).chain((length) =>
  fc.record({
    viz: fc.constantFrom<ReferenceFunnel['viz']>('steps', 'steps', 'time_to_convert', 'trends'),
    order: fc.constantFrom<ReferenceFunnel['order']>('ordered', 'strict', 'unordered'),
    steps: fc.array(stepArb, { minLength: length, maxLength: length }),
    optional: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray([1, 2, 3].slice(0, length - 1)) }),
    exclusions: fc.array(
      fc
        .tuple(excludingArb, fc.nat(length - 2), fc.integer({ min: 1, max: length - 1 }))
        .map(([step, from, span]) => ({ ...step, from, to: Math.min(length - 1, from + span) })),
      { maxLength: 4 },
    ),
    windowHours: fc.constantFrom(4, 8, 24, 40, 24 * 14),
    breakdown: fc.constantFrom<readonly string[]>([], ['v'], ['v'], ['v', 'w']),
    limit: fc.constantFrom(1, 2, 25),
    attribution: fc.constantFrom<ReferenceFunnel['attribution']>('first_touch', 'last_touch', 'all_events', 'step'),
    attributionStep: fc.nat(length - 1),
    actor: fc.constantFrom<ReferenceFunnel['actor']>('person', 'person', 'person', 'group', 'property'),
    from: fc.nat(length - 2),
    to: fc.integer({ min: 1, max: length - 1 }),
    binCount: fc.constantFrom(null, null, 1, 7),
    range: fc.constant([firstDay, lastMicrosecond] as const),
  }),
)

/** Only what the query allows. */
export const funnelArb: fc.Arbitrary<ReferenceFunnel> = shapeArb
  .map((drawn): ReferenceFunnel => {
    const isUnordered = drawn.order === 'unordered'
    return {
      ...drawn,
      optional: isUnordered || drawn.viz !== 'steps' ? [] : drawn.optional,
      exclusions: isUnordered ? drawn.exclusions.map((e) => ({ ...e, from: 0, to: drawn.steps.length - 1 })) : drawn.exclusions,
      attributionStep: isUnordered ? 0 : drawn.attributionStep,
      breakdown: drawn.viz === 'time_to_convert' ? [] : drawn.breakdown,
      from: drawn.viz === 'steps' ? 0 : drawn.from,
      to: drawn.viz === 'steps' ? drawn.steps.length - 1 : Math.max(drawn.from + 1, drawn.to),
    }
  })
  .filter((funnel) => funnelsSchema.safeParse(asQuery(funnel)).success)

/** Persons of these cases; the first one has no record. */
export const persons = [1, 2, 3, 4].map((person) => ({ person, hasRecord: person !== 1, properties: personProperties(person) }))

const filter = (key: string, value: string, type: string) => ({ key, value: [value], operator: 'exact', type })
export const filtersOfStep = ({ k, p }: ReferenceStep) => [
  ...(k === undefined ? [] : [filter('k', k, 'event')]),
  ...(p === undefined ? [] : [filter('p', p, 'person')]),
]
const node = (step: ReferenceStep) => {
  const properties = filtersOfStep(step)
  const { event } = step
  return { kind: 'EventsNode', event, ...(properties.length && { properties }) }
}
const iso = (micros: number) => new Date(micros / 1000).toISOString().slice(0, 10)

export function asQuery(funnel: ReferenceFunnel) {
  return {
    kind: 'FunnelsQuery',
    series: funnel.steps.map((step, i) => ({ ...node(step), ...(funnel.optional.includes(i) && { optionalInFunnel: true }) })),
    interval: 'day',
    dateRange: { date_from: iso(funnel.range[0]), date_to: iso(funnel.range[1]) },
    funnelsFilter: {
      funnelVizType: funnel.viz,
      funnelOrderType: funnel.order,
      funnelWindowInterval: funnel.windowHours,
      funnelWindowIntervalUnit: 'hour',
      exclusions: funnel.exclusions.map(({ from, to, ...step }) => ({ ...node(step), funnelFromStep: from, funnelToStep: to })),
      breakdownAttributionType: funnel.attribution,
      ...(funnel.attribution === 'step' && { breakdownAttributionValue: funnel.attributionStep }),
      ...(funnel.viz !== 'steps' && { funnelFromStep: funnel.from, funnelToStep: funnel.to }),
      ...(funnel.binCount !== null && { binCount: funnel.binCount }),
      ...(funnel.actor === 'property' && { funnelAggregateByHogQL: 'properties.v' }),
    },
    ...(funnel.breakdown.length && {
      breakdownFilter: {
        breakdowns: funnel.breakdown.map((property) => ({ property, type: 'event' })),
        breakdown_limit: funnel.limit,
      },
    }),
    ...(funnel.actor === 'group' && { aggregation_group_type_index: 0 }),
  } as const
}

/** A funnel of some of the days, and what it is compared with. */
export interface ReferenceComparison {
  readonly current: ReferenceFunnel
  readonly previous: ReferenceFunnel
  /** Null: the days right before. */
  readonly compareTo: string | null
}

/** Days from the first one, both inclusive. */
const comparedDays = [
  { current: [1, 2], previous: [0, 1], compareTo: '-1d' },
  { current: [1, 2], previous: [-1, 0], compareTo: null },
  { current: [2, 2], previous: [1, 1], compareTo: null },
  { current: [2, 2], previous: [0, 0], compareTo: '-2d' },
  { current: [0, 1], previous: [-7, -6], compareTo: '-1w' },
] as const

export const comparisonArb: fc.Arbitrary<
  Omit<ReferenceComparison, 'current' | 'previous'> & Record<'current' | 'previous', ReferenceFunnel['range']>
> = fc.constantFrom(...comparedDays).map(({ current, previous, compareTo }) => {
  const range = ([from, to]: readonly [number, number]) => [firstDay + from * 24 * hour, firstDay + (to + 1) * 24 * hour - 1] as const
  return { current: range(current), previous: range(previous), compareTo }
})

export const comparedArb: fc.Arbitrary<ReferenceComparison> = fc
  .record({ funnel: funnelArb, ranges: comparisonArb })
  .map(({ funnel, ranges: { current, previous, compareTo } }) => ({
    current: { ...funnel, range: current },
    previous: { ...funnel, range: previous },
    compareTo,
  }))

export const compareFilterOf = ({ compareTo }: Pick<ReferenceComparison, 'compareTo'>) => ({
  compare: true,
  ...(compareTo !== null && { compare_to: compareTo }),
})

export const afterMerges = (events: readonly StoreEvent[], merges: readonly (readonly [number, number])[]): readonly StoreEvent[] =>
  events.map((event) => ({ ...event, person: merges.find(([merged]) => merged === event.person)?.[1] ?? event.person }))
