import { expect, test } from 'vitest'
import { checkRequest } from '../../../src/engine/execution/request.ts'
import { byLastDays, lastDaysOf } from '../../../src/web/home/last-days.ts'
import type { Query } from '../../../src/web/lib/api.ts'

const series = [
  { kind: 'EventsNode', event: 'a' },
  { kind: 'EventsNode', event: 'b' },
]

test.each<[string, Query, object | null]>([
  [
    'a chart by days, of everybody together',
    {
      kind: 'TrendsQuery',
      series,
      interval: 'week',
      dateRange: { date_from: '-90d' },
      breakdownFilter: { breakdown: 'plan' },
      compareFilter: { compare: true },
      trendsFilter: { display: 'ActionsBar', formula: 'A / B', smoothingIntervals: 7 },
    },
    {
      kind: 'TrendsQuery',
      series,
      interval: 'day',
      dateRange: { date_from: '-30d' },
      trendsFilter: { formula: 'A / B', display: 'ActionsLineGraph' },
    },
  ],
  ['a heat map has no line', { kind: 'TrendsQuery', series, trendsFilter: { display: 'BoxPlot' } }, null],
  [
    'a funnel by its conversion',
    { kind: 'FunnelsQuery', series, funnelsFilter: { funnelVizType: 'steps', funnelOrderType: 'strict' } },
    {
      kind: 'FunnelsQuery',
      series,
      interval: 'day',
      dateRange: { date_from: '-30d' },
      funnelsFilter: { funnelVizType: 'trends', funnelOrderType: 'strict' },
    },
  ],
  ['of one step there is none', { kind: 'FunnelsQuery', series: series.slice(1) }, null],
  ['retention has none', { kind: 'RetentionQuery', retentionFilter: {} }, null],
  ['a statement has none', { kind: 'HogQLQuery', query: 'select 1' }, null],
])('%s', (_, query, expected) => {
  const asked = byLastDays(query)
  expect(asked && JSON.parse(JSON.stringify(asked))).toEqual(expected)
  if (asked) expect(() => checkRequest(asked)).not.toThrow()
})

test('of a lifecycle those who were active are drawn, of anything else its first series', () => {
  const results = [
    { status: 'new', data: [1, 2] },
    { status: 'dormant', data: [-9, -9] },
    { status: 'returning', data: [3, null] },
  ]
  expect(lastDaysOf({ kind: 'LifecycleQuery' }, { results })).toEqual([4, 2])
  expect(lastDaysOf({ kind: 'TrendsQuery' }, { results })).toEqual([1, 2])
  expect(lastDaysOf({ kind: 'TrendsQuery' }, { results: [] })).toEqual([])
})
