import fc from 'fast-check'
import type { ReferenceEvent, ReferenceFormula, ReferenceQuery, ReferenceSeries } from './trends.ts'

// Events with few names, persons and values, at times around changes of clocks; queries drawn along the axes that change how they are planned.

const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Auckland', 'Pacific/Kiritimati'] as const
// A change of clocks in New York (8 March), in Berlin (29 March), in Auckland (5 April).
const firstDay = Date.parse('2020-02-24T00:00:00Z')
const minutes = 45 * 24 * 60
/** Milliseconds after the first day. */
const busyInstant = (20 * 1440 + 30) * 60_000
const newYear = Date.parse('2020-01-01T00:00:00Z') - firstDay

const valueArb = fc.constantFrom<string | number | boolean | null>('a', 'b', 'c', '', 'null', null, 1, 2.5, '10', 'x1', true)
export const eventArb: fc.Arbitrary<ReferenceEvent> = fc.record({
  event: fc.constantFrom('view', 'buy'),
  person: fc.integer({ min: 1, max: 5 }),
  // Half past midnight in many zones, and the same instant often; around one instant, which charts by the second show; the turn of a year.
  at: fc
    .oneof(
      { weight: 4, arbitrary: fc.integer({ min: 0, max: minutes }).map((m) => m * 60_000) },
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 }).map((n) => (n * 1440 + 30) * 60_000) },
      { weight: 2, arbitrary: fc.integer({ min: -15_000, max: 15_000 }).map((ms) => busyInstant + ms) },
      { weight: 1, arbitrary: fc.integer({ min: -30, max: 30 }).map((hours) => newYear + hours * 3_600_000) },
    )
    .map((ms) => (firstDay + ms) * 1000),
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
    interval: fc.constantFrom<ReferenceQuery['interval']>('second', 'minute', 'hour', 'day', 'day', 'week', 'month', 'quarter', 'year'),
    start: fc.integer({ min: 0, max: 35 }),
    length: fc.integer({ min: 0, max: 20 }),
    breakdown: fc.option(fc.constantFrom('k', 'n'), { nil: undefined }),
    limit: fc.constantFrom(2, 3, 25),
    isTotal: fc.boolean(),
    isCumulative: fc.boolean(),
    smoothing: fc.constantFrom(1, 1, 3),
    sample: fc.constantFrom(undefined, undefined, undefined, 0.5, 0.3),
  })
  .map(({ start, length, ...rest }) => {
    const { interval } = rest
    if (interval === 'second' || interval === 'minute' || interval === 'hour') {
      // Hours that come twice have one name in the reference: short buckets are drawn in a zone without a change, and for little time.
      const range =
        interval === 'hour' ? { from: dayText(start), to: dayText(start + (length % 3)) } : aroundBusyInstant(interval, start, length)
      return { ...rest, ...range, zone: shortZone, isTotal: false }
    }
    const before = interval === 'quarter' || interval === 'year' ? 100 : 0
    return { ...rest, from: dayText(start - before), to: dayText(start + length) }
  })

/** 5 hours and 45 minutes ahead, always. */
const shortZone = 'Asia/Kathmandu'

/** Some minutes, or seconds, of which one is the instant that many events are near. */
function aroundBusyInstant(interval: 'second' | 'minute', start: number, length: number): { from: string; to: string } {
  const [unit, letters] = interval === 'minute' ? [60_000, 16] : [1_000, 19]
  const first = firstDay + busyInstant + 345 * 60_000 - (start % 10) * unit
  const text = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, letters)
  return { from: text(first), to: text(first + length * unit) }
}

export const byDay = (query: ReferenceQuery): ReferenceQuery => ({
  ...query,
  interval: 'day',
  from: query.from.slice(0, 10),
  to: query.to.slice(0, 10),
})

/** The query as it is for a store in another zone: what is drawn for the zone of short buckets is asked by day there. */
export const inZone = (query: ReferenceQuery, { zone, weekStartDay }: Pick<ReferenceQuery, 'zone' | 'weekStartDay'>): ReferenceQuery => {
  const isShort = ['hour', 'minute', 'second'].includes(query.interval) && zone !== shortZone
  return { ...(isShort ? byDay(query) : query), zone, weekStartDay }
}

const formulas: Readonly<Record<'one' | 'two', readonly ReferenceFormula[]>> = {
  one: [
    { text: 'A * 2 - 1', of: (a) => a * 2 - 1 },
    { text: '10 / a', of: (a) => (a === 0 ? 0 : 10 / a) },
    { text: '-A^2', of: (a) => -(a ** 2) },
  ],
  two: [
    { text: 'A + B', of: (a, b) => a + b },
    { text: 'B/A', of: (a, b) => (a === 0 ? 0 : b / a) },
    { text: '(A - B) / 3 + A % 2', of: (a, b) => (a - b) / 3 + (a % 2) },
  ],
}
export const queryArb: fc.Arbitrary<ReferenceQuery> = fc
  .tuple(shapeArb, fc.array(seriesArb, { minLength: 1, maxLength: 2 }), fc.nat(8))
  .map(([shape, series, which]) => {
    const formula = formulas[series.length === 1 ? 'one' : 'two'][which]
    return { ...shape, series, isCumulative: shape.isCumulative && !shape.isTotal, ...(formula && { formula }) }
  })

/** Numbers as they were counted: not computed from each other, and not of a sample. */
export const counted = (query: ReferenceQuery): ReferenceQuery => ({ ...query, formula: undefined, sample: undefined })

/** What a query takes on the axes along which queries are drawn. */
export const axesOf = (query: ReferenceQuery): string[] => [
  `interval ${query.interval}`,
  ...query.series.map(({ math }) => `math ${math}`),
  query.breakdown ? 'broken down' : 'whole',
  query.sample === undefined ? 'all events' : 'sampled',
  query.formula ? `formula ${query.formula.text}` : 'no formula',
  query.isTotal ? 'one number' : query.isCumulative ? 'running total' : query.smoothing > 1 ? 'smoothed' : 'plain',
  `zone ${query.zone}`,
]

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
  events.map((e) => ({ ...e, distinctId: `d${e.person}`, person: merges.find(([merged]) => merged === e.person)?.[1] ?? e.person }))

/** The query as a caller writes it. */
export function asQuery(query: ReferenceQuery): { readonly kind: string; readonly [field: string]: unknown } {
  const restOfEnd: Readonly<Record<string, string>> = { hour: 'T23:59:59.999999', minute: ':59.999999', second: '.999999' }
  const end = `${query.to}${restOfEnd[query.interval] ?? ''}`
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
    ...(query.sample && { samplingFactor: query.sample }),
    trendsFilter: {
      ...(query.formula && { formula: query.formula.text }),
      display: query.isTotal ? 'ActionsTable' : query.isCumulative ? 'ActionsLineGraphCumulative' : 'ActionsLineGraph',
      smoothingIntervals: query.smoothing,
    },
  }
}
