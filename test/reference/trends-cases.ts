import fc from 'fast-check'
import type { ReferenceEvent, ReferenceQuery, ReferenceSeries } from './trends.ts'

// Events with few names, persons and values, at times around changes of clocks; queries drawn along the axes that change how they are planned.

const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Auckland', 'Pacific/Kiritimati'] as const
// A change of clocks in New York (8 March), in Berlin (29 March), in Auckland (5 April).
const firstDay = Date.parse('2020-02-24T00:00:00Z')
const minutes = 45 * 24 * 60

const valueArb = fc.constantFrom<string | number | boolean | null>('a', 'b', 'c', '', 'null', null, 1, 2.5, '10', 'x1', true)
export const eventArb: fc.Arbitrary<ReferenceEvent> = fc.record({
  event: fc.constantFrom('view', 'buy'),
  person: fc.integer({ min: 1, max: 5 }),
  // Half past midnight in many zones, and the same instant often.
  at: fc
    .oneof(
      fc.integer({ min: 0, max: minutes }),
      fc.integer({ min: 0, max: 40 }).map((n) => n * 1440 + 30),
    )
    .map((m) => (firstDay + m * 60_000) * 1000),
  session: fc.constantFrom('', 's1', 's2'),
  group: fc.constantFrom('', 'g1', 'g2'),
  properties: fc.record({ k: valueArb, n: valueArb, f: fc.constantFrom('yes', 'no') }, { requiredKeys: [] }),
})

const mathArb: fc.Arbitrary<Pick<ReferenceSeries, 'math' | 'property' | 'perGroup'>> = fc.oneof(
  fc.record({ math: fc.constantFrom('total', 'dau', 'unique_session', 'unique_group', 'weekly_active', 'monthly_active') }),
  fc.record({ math: fc.constantFrom('weekly_active', 'monthly_active') }),
  fc.record({ math: fc.constantFrom('dau', 'weekly_active', 'avg_count_per_actor'), perGroup: fc.constant(true) }),
  fc.record({ math: fc.constantFrom('first_time_for_user', 'first_matching_event_for_user') }),
  fc.record({ math: fc.constantFrom('sum', 'avg', 'min', 'max', 'median', 'p75', 'p90', 'p99'), property: fc.constant('n') }),
  fc.record({ math: fc.constantFrom('avg_count_per_actor', 'max_count_per_actor', 'median_count_per_actor', 'p90_count_per_actor') }),
)
const seriesArb: fc.Arbitrary<ReferenceSeries> = fc
  .tuple(mathArb, fc.constantFrom(null, 'view', 'buy'), fc.option(fc.constantFrom('yes', 'no')))
  .map(([math, event, filter]) => ({ ...math, event, ...(filter && { filter: ['f', filter] as const }) }))

const dayText = (offset: number) => new Date(firstDay + offset * 86_400_000).toISOString().slice(0, 10)
const shapeArb = fc
  .record({
    zone: fc.constantFrom(...zones),
    weekStartDay: fc.constantFrom<0 | 1>(0, 1),
    interval: fc.constantFrom<ReferenceQuery['interval']>('hour', 'day', 'week', 'month'),
    start: fc.integer({ min: 0, max: 35 }),
    length: fc.integer({ min: 0, max: 20 }),
    breakdown: fc.option(fc.constantFrom('k', 'n'), { nil: undefined }),
    limit: fc.constantFrom(2, 3, 25),
    isTotal: fc.boolean(),
    isCumulative: fc.boolean(),
    smoothing: fc.constantFrom(1, 1, 3),
  })
  .map(({ start, length, ...rest }) => {
    // Hours that come twice have one name in the reference: hours are drawn in a zone without a change, and for few days.
    const isHours = rest.interval === 'hour'
    const range = { from: dayText(start), to: dayText(start + (isHours ? length % 3 : length)) }
    return { ...rest, ...range, zone: isHours ? ('Asia/Kathmandu' as const) : rest.zone, isTotal: rest.isTotal && !isHours }
  })
export const queryArb: fc.Arbitrary<ReferenceQuery> = fc
  .tuple(shapeArb, fc.array(seriesArb, { minLength: 1, maxLength: 2 }))
  .map(([shape, series]) => ({ ...shape, series, isCumulative: shape.isCumulative && !shape.isTotal }))

export type Merges = readonly (readonly [merged: number, survivor: number])[]
export const mergesArb: fc.Arbitrary<Merges> = fc.constantFrom<Merges>(
  [],
  [],
  [[5, 1]],
  [
    [5, 1],
    [4, 1],
    [3, 2],
  ],
)
/** What a merge means: events of the one are events of the other. */
export const afterMerges = (events: readonly ReferenceEvent[], merges: Merges): ReferenceEvent[] =>
  events.map((e) => ({ ...e, person: merges.find(([merged]) => merged === e.person)?.[1] ?? e.person }))

/** The query as a caller writes it. */
export function asQuery(query: ReferenceQuery): { readonly kind: string; readonly [field: string]: unknown } {
  const end = query.interval === 'hour' ? `${query.to}T23:59:59.999999` : query.to
  return {
    kind: 'TrendsQuery',
    series: query.series.map((s) => ({
      kind: 'EventsNode',
      event: s.event,
      math: s.math,
      ...(s.property && { math_property: s.property }),
      ...((s.perGroup || s.math === 'unique_group') && { math_group_type_index: 0 }),
      ...(s.filter && { properties: [{ type: 'event', key: s.filter[0], value: s.filter[1], operator: 'exact' }] }),
    })),
    interval: query.interval,
    dateRange: { date_from: query.from, date_to: end },
    ...(query.breakdown && { breakdownFilter: { breakdown: query.breakdown, breakdown_type: 'event', breakdown_limit: query.limit } }),
    trendsFilter: {
      display: query.isTotal ? 'ActionsTable' : query.isCumulative ? 'ActionsLineGraphCumulative' : 'ActionsLineGraph',
      smoothingIntervals: query.smoothing,
    },
  }
}
