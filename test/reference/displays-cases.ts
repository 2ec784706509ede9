import fc from 'fast-check'
import type { ReferenceDisplay } from './displays.ts'

// Heat maps and box plots along their axes, over the events of the trends.

export const firstDay = Date.parse('2020-02-24T00:00:00Z')
export const dayText = (offset: number) => new Date(firstDay + offset * 86_400_000).toISOString().slice(0, 10)
export const displayArb: fc.Arbitrary<ReferenceDisplay> = fc
  .record({
    zone: fc.constantFrom('UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu'),
    weekStartDay: fc.constantFrom<0 | 1>(0, 1),
    interval: fc.constantFrom<ReferenceDisplay['interval']>('day', 'week', 'month'),
    begin: fc.integer({ min: 0, max: 20 }),
    length: fc.integer({ min: 0, max: 40 }),
    event: fc.constantFrom(null, null, 'view'),
    math: fc.constantFrom<ReferenceDisplay['math']>('total', 'dau', 'unique_group', 'sum', 'max'),
    compares: fc.constantFrom<ReferenceDisplay['compares']>(null, 'before', 2, 7),
  })
  .map(({ begin, length, ...drawn }) => ({ ...drawn, from: dayText(begin), to: dayText(begin + length) }))

export const asTrend = ({ from, to, event, math, interval, compares }: ReferenceDisplay, display: string) => ({
  kind: 'TrendsQuery',
  dateRange: { date_from: from, date_to: to },
  ...(compares !== null && { compareFilter: { compare: true, ...(compares !== 'before' && { compare_to: `-${compares}d` }) } }),
  interval: display === 'BoxPlot' ? interval : 'day',
  series: [
    {
      kind: 'EventsNode',
      event,
      ...(display === 'BoxPlot' || math === 'sum' || math === 'max' ? { math_property: 'n' } : {}),
      math,
      ...(math === 'unique_group' && { math_group_type_index: 0 }),
    },
  ],
  trendsFilter: { display },
})

/** A month is counted whole, a week from the day of the start on. */
export const asBoxes = (query: ReferenceDisplay): ReferenceDisplay =>
  query.interval === 'month' ? { ...query, from: `${query.from.slice(0, 8)}01` } : query
