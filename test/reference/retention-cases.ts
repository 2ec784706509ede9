import fc from 'fast-check'
import type { ReferenceEntity, ReferenceRetention } from './retention.ts'

// Retentions along the axes that change how they are planned, over the events of the trends.

const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Auckland'] as const
const firstDay = Date.parse('2020-02-24T00:00:00Z')
const dayText = (offset: number) => new Date(firstDay + offset * 86_400_000).toISOString().slice(0, 10)

const entityArb: fc.Arbitrary<ReferenceEntity> = fc
  .tuple(fc.constantFrom(null, 'view', 'buy'), fc.option(fc.constantFrom('yes', 'no')))
  .map(([event, filter]) => ({ event, ...(filter && { filter: ['f', filter] as const }) }))

export const retentionArb: fc.Arbitrary<ReferenceRetention> = fc
  .record({
    zone: fc.constantFrom(...zones),
    weekStartDay: fc.constantFrom<0 | 1>(0, 1),
    period: fc.constantFrom<ReferenceRetention['period']>('Hour', 'Day', 'Day', 'Day', 'Week', 'Month'),
    start: entityArb,
    back: entityArb,
    areSame: fc.constantFrom(true, false, false),
    filter: fc.constantFrom<ReferenceRetention['filter']>(undefined, undefined, ['f', 'yes']),
    first: fc.option(fc.integer({ min: 0, max: 30 }), { freq: 2 }),
    length: fc.integer({ min: 0, max: 15 }),
    intervals: fc.integer({ min: 1, max: 11 }),
    type: fc.constantFrom<ReferenceRetention['type']>('recurring', 'recurring', 'first_time', 'first_ever_occurrence'),
    isCumulative: fc.boolean(),
    minimum: fc.constantFrom(1, 1, 2),
    hasWindows: fc.boolean(),
    brackets: fc.option(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }), { freq: 2 }),
    sum: fc.constantFrom<ReferenceRetention['sum']>(null, null, 'sum', 'avg'),
    perGroup: fc.constantFrom(false, false, false, true),
    breakdown: fc.constantFrom<readonly string[]>([], [], ['k'], ['k', 'f']),
    limit: fc.constantFrom(2, 25),
    sample: fc.constantFrom(undefined, undefined, undefined, 0.5),
    comparedTo: fc.constantFrom<ReferenceRetention['comparedTo']>(null, null, null, 'before', 'before', '-1d', '-2w', '-1m', '-1y'),
  })
  .map(({ first, length, areSame, ...drawn }): ReferenceRetention => {
    const isHour = drawn.period === 'Hour'
    const begin = first ?? 0
    const sum = drawn.sum
    return {
      ...drawn,
      // Hours are drawn where clocks never change, for few days.
      zone: isHour ? 'Asia/Kathmandu' : drawn.zone,
      from: first === null ? null : dayText(begin),
      to: dayText(begin + (isHour ? length % 2 : first === null ? 10 + length : length)),
      back: areSame ? drawn.start : drawn.back,
      isCumulative: drawn.isCumulative && !drawn.hasWindows && sum === null,
      hasWindows: drawn.hasWindows && sum === null,
      minimum: sum === null ? drawn.minimum : 1,
    }
  })

export const retentionAxes = (query: ReferenceRetention): string[] => [
  `period ${query.period}`,
  query.type,
  query.hasWindows ? 'windows' : 'calendar',
  query.brackets ? 'brackets' : 'no brackets',
  query.isCumulative ? 'cumulative' : 'not cumulative',
  query.minimum > 1 ? 'several returns' : 'one return',
  query.sum ?? 'counted',
  query.perGroup ? 'groups' : 'persons',
  `breakdown by ${query.breakdown.length}`,
  query.sample ? 'sampled' : 'all events',
  query.from === null ? 'back from the end' : 'with a start',
  JSON.stringify(query.start) === JSON.stringify(query.back) ? 'same event' : 'other event',
  `compared to ${query.comparedTo}`,
]

const filtersOf = (filter: readonly [key: string, value: string] | undefined) =>
  filter ? { properties: [{ type: 'event', key: filter[0], value: filter[1], operator: 'exact' }] } : {}

/** The query as a caller writes it. */
export function asRetention(query: ReferenceRetention): { readonly kind: 'RetentionQuery'; readonly [field: string]: unknown } {
  const entity = ({ event, filter }: ReferenceEntity) => ({ id: event, type: 'events', ...filtersOf(filter) })
  return {
    kind: 'RetentionQuery',
    dateRange: { date_from: query.from, date_to: query.period === 'Hour' ? `${query.to}T23:00:00` : query.to },
    retentionFilter: {
      targetEntity: entity(query.start),
      returningEntity: entity(query.back),
      period: query.period,
      totalIntervals: query.intervals,
      retentionType: `retention_${query.type}`,
      cumulative: query.isCumulative,
      minimumOccurrences: query.minimum,
      timeWindowMode: query.hasWindows ? '24_hour_windows' : 'strict_calendar_dates',
      retentionCustomBrackets: query.brackets,
      ...(query.sum && { aggregationType: query.sum, aggregationProperty: 'n' }),
    },
    ...filtersOf(query.filter),
    ...(query.perGroup && { aggregation_group_type_index: 0 }),
    ...(query.breakdown.length && {
      breakdownFilter: {
        ...(query.breakdown.length === 1
          ? { breakdown: query.breakdown[0], breakdown_type: 'event' }
          : { breakdowns: query.breakdown.map((property) => ({ property, type: 'event' })) }),
        breakdown_limit: query.limit,
      },
    }),
    ...(query.sample && { samplingFactor: query.sample }),
    ...(query.comparedTo && {
      compareFilter: { compare: true, ...(query.comparedTo !== 'before' && { compare_to: query.comparedTo }) },
    }),
  }
}
