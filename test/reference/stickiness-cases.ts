import fc from 'fast-check'
import type { ReferenceStickiness, ReferenceStickySeries } from './stickiness.ts'

// Stickiness along the axes that change how it is planned, over the events of the trends.

const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Auckland'] as const
const firstDay = Date.parse('2020-02-24T00:00:00Z')
const dayText = (offset: number) => new Date(firstDay + offset * 86_400_000).toISOString().slice(0, 10)

const filterArb = fc.constantFrom<readonly [string, string] | undefined>(undefined, undefined, ['f', 'yes'])
const seriesArb: fc.Arbitrary<ReferenceStickySeries> = fc
  .record({
    event: fc.constantFrom(null, 'view', 'buy'),
    filter: filterArb,
    actor: fc.constantFrom<ReferenceStickySeries['actor']>('person', 'person', 'person', 'group', 'property'),
  })
  .map(({ filter, ...rest }) => ({ ...rest, ...(filter && { filter }) }))

export const stickinessArb: fc.Arbitrary<ReferenceStickiness> = fc
  .record({
    zone: fc.constantFrom(...zones),
    weekStartDay: fc.constantFrom<0 | 1>(0, 1),
    interval: fc.constantFrom<ReferenceStickiness['interval']>('hour', 'day', 'day', 'week', 'month'),
    count: fc.constantFrom(null, null, 1, 2, 3),
    start: fc.integer({ min: 0, max: 30 }),
    length: fc.integer({ min: 0, max: 20 }),
    series: fc.array(seriesArb, { minLength: 1, maxLength: 2 }),
    filter: filterArb,
    criteria: fc.option(
      fc.record({
        operator: fc.constantFrom<'gte' | 'lte' | 'exact' | 'gt' | 'lt'>('gte', 'lte', 'exact', 'gt', 'lt'),
        value: fc.constantFrom(1, 2, 3),
      }),
      { freq: 2 },
    ),
    isCumulative: fc.boolean(),
    compares: fc.constantFrom(false, false, true),
    sample: fc.constantFrom(undefined, undefined, undefined, 0.5),
  })
  .map(({ start, length, filter, ...drawn }) => {
    const isHour = drawn.interval === 'hour'
    return {
      ...drawn,
      ...(filter && { filter }),
      // Hours are drawn where clocks never change, for few days.
      zone: isHour ? 'Asia/Kathmandu' : drawn.zone,
      count: isHour ? null : drawn.count,
      compares: drawn.compares && !isHour,
      from: dayText(start),
      to: dayText(start + (isHour ? length % 2 : length)),
    }
  })

export const stickinessAxes = (query: ReferenceStickiness): string[] => [
  `interval ${query.interval}`,
  query.count === null ? 'calendar' : `spans of ${query.count}`,
  ...query.series.map(({ actor }) => `by ${actor}`),
  query.criteria ? `criteria ${query.criteria.operator}` : 'no criteria',
  query.isCumulative ? 'cumulative' : 'not cumulative',
  query.compares ? 'compared' : 'not compared',
  query.sample ? 'sampled' : 'all events',
]

const filtersOf = (filter: readonly [key: string, value: string] | undefined) =>
  filter ? { properties: [{ type: 'event', key: filter[0], value: filter[1], operator: 'exact' }] } : {}
const maths = {
  person: { math: 'dau' },
  group: { math: 'unique_group', math_group_type_index: 0 },
  property: { math: 'hogql', math_hogql: 'properties.k' },
}

/** The query as a caller writes it. */
export function asStickiness(query: ReferenceStickiness): { readonly kind: 'StickinessQuery'; readonly [field: string]: unknown } {
  return {
    kind: 'StickinessQuery',
    series: query.series.map(({ event, filter, actor }) => ({ kind: 'EventsNode', event, ...maths[actor], ...filtersOf(filter) })),
    interval: query.interval,
    intervalCount: query.count,
    dateRange: { date_from: query.from, date_to: query.interval === 'hour' ? `${query.to}T23:59:59.999999` : query.to },
    stickinessFilter: { computedAs: query.isCumulative ? 'cumulative' : 'non_cumulative', stickinessCriteria: query.criteria },
    compareFilter: { compare: query.compares },
    ...filtersOf(query.filter),
    ...(query.sample && { samplingFactor: query.sample }),
  }
}
