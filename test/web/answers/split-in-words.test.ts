import { expect, test } from 'vitest'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import type { Saying } from '../../../src/web/answers/answer-in-words.ts'
import { splitInWords, type Totals } from '../../../src/web/answers/split-in-words.ts'

// What a tile says of an answer that is split by a value: no number in it was asked for.

const told = ({ value, about, change }: Saying) =>
  `${value} ${about}${change === null ? '' : ` ${{ '-1': '▼', 0: '=', 1: '▲' }[change.direction]} ${change.by} was ${change.was}`}`
const days = ['2026-06-14', '2026-06-15', '2026-06-16']
const labels = ['14-Jun-2026', '15-Jun-2026', '16-Jun-2026']
const row = (value: unknown, data: readonly number[], more: object = {}) => ({
  data,
  days,
  labels,
  count: data.reduce((sum, one) => sum + one, 0),
  label: String(value),
  breakdown_value: value,
  action: { name: '$pageview', math: 'total' },
  ...more,
})
const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, name: event, ...more })
const trend = (series: readonly object[], more: object = {}) => ({
  kind: 'TrendsQuery',
  series,
  interval: 'day',
  breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' },
  ...more,
})
const previous = { compare: true, compare_label: 'previous' }
const other = '$$_posthog_breakdown_other_$$'
const browsers = [row('Chrome', [1, 2, 3]), row('Safari', [4, 5, 6]), row(other, [20, 20, 20], { label: 'Other' })]
const step = (value: string, name: string, count: number, more: object = {}) => ({ name, count, breakdown_value: [value], ...more })

interface Case {
  readonly query: { readonly kind: string; readonly [field: string]: unknown }
  readonly results: readonly unknown[]
  /** Null: no number of the range is known. */
  readonly totals?: Totals | null
}

test.each<[name: string, of: Case, words: readonly string[]]>([
  [
    'events add up: all of them, and the largest value with its share, which Other is not',
    { query: trend([node('$pageview')]), results: browsers },
    ['81 Pageview events', '15 Safari, 18.5% of all'],
  ],
  [
    'with the period before, each says its change',
    {
      query: trend([node('$pageview')]),
      results: [
        row('Chrome', [1, 2, 3]),
        row('Safari', [4, 5, 6]),
        row('Chrome', [1, 1, 1], previous),
        row('Safari', [10, 5, 5], previous),
      ],
    },
    ['21 Pageview events ▼ 8.7% was 23', '15 Safari, 71.4% of all ▼ 25% was 20'],
  ],
  [
    'people do not add up: the last day that is over, without a share',
    {
      query: trend([node('$pageview', { math: 'dau' })]),
      results: [row('Chrome', [1, 9, 3]), row('Safari', [4, 5, 6])],
      totals: null,
    },
    ['9 unique people: Pageview, Chrome, 15 Jun'],
  ],
  [
    'people of the last day that is over beside those before',
    {
      query: trend([node('$pageview', { math: 'dau' })]),
      results: [row('Chrome', [1, 9, 3]), row('Safari', [4, 5, 6]), row('Chrome', [1, 6, 3], previous)],
      totals: null,
    },
    ['9 unique people: Pageview, Chrome, 15 Jun ▲ 50% was 6'],
  ],
  [
    'cohorts overlap, so nothing is a share of all',
    {
      query: trend([node('$pageview')], { breakdownFilter: { breakdown: [1, 2], breakdown_type: 'cohort' } }),
      results: [row(1, [1, 2, 3], { breakdown_label: 'Pros' }), row(2, [4, 5, 6], { breakdown_label: 'Guests' })],
    },
    ['15 Pageview events, Guests'],
  ],
  [
    'without Other the rows are not all',
    {
      query: trend([node('$pageview')], { breakdownFilter: { breakdown: '$browser', breakdown_hide_other_aggregation: true } }),
      results: browsers.slice(0, 2),
    },
    ['15 Pageview events, Safari'],
  ],
  [
    'several series: the largest value of each, with its share',
    {
      query: trend([node('$pageview'), node('signed up')]),
      results: [
        row('Chrome', [1, 2, 3], { label: '$pageview - Chrome' }),
        row('Safari', [4, 5, 6], { label: '$pageview - Safari' }),
        row('Chrome', [1, 0, 0], { order: 1, label: 'signed up - Chrome', action: { name: 'signed up' } }),
      ],
    },
    ['15 Pageview - Safari, 71.4% of all', '1 signed up - Chrome, 100% of all'],
  ],
  [
    'a pie of events',
    {
      query: trend([node('$pageview')], { trendsFilter: { display: 'ActionsPie' } }),
      results: [
        { aggregated_value: 30, label: 'Chrome', breakdown_value: 'Chrome', action: { name: '$pageview' } },
        { aggregated_value: 10, label: 'Safari', breakdown_value: 'Safari', action: { name: '$pageview' } },
      ],
      totals: [30, 10],
    },
    ['40 Pageview events', '30 Chrome, 75% of all'],
  ],
  [
    'totals of people: the largest, without a share',
    {
      query: trend([node('$pageview', { math: 'dau' })], { trendsFilter: { display: 'ActionsBarValue' } }),
      results: [{ aggregated_value: 30, label: 'Chrome', breakdown_value: 'Chrome', action: { name: '$pageview', math: 'dau' } }],
      totals: [30],
    },
    ['30 unique people: Pageview, Chrome'],
  ],
  ['nothing happened', { query: trend([node('$pageview')]), results: [row('Chrome', [0, 0, 0])] }, []],
  ['it is not split', { query: { ...trend([node('$pageview')]), breakdownFilter: undefined }, results: browsers }, []],
  [
    'a funnel: the values with the most people first, with what they were',
    {
      query: { kind: 'FunnelsQuery', series: [], breakdownFilter: { breakdown: 'device' } },
      results: [
        [step('Mobile', 'seen', 20), step('Mobile', 'bought', 3)],
        [step('Desktop', 'seen', 200), step('Desktop', 'bought', 60)],
        [step('Mobile', 'seen', 20, previous), step('Mobile', 'bought', 2, previous)],
        [step('Desktop', 'seen', 100, previous), step('Desktop', 'bought', 40, previous)],
      ],
    },
    ['30% Desktop converted, of 200 ▼ 10 points was 40%', '15% Mobile converted, of 20 ▲ 5 points was 10%'],
  ],
])('%s', (_, { query, results, totals }, words) => {
  const answer = { results, last_refresh: '2026-06-16T10:00:00Z' } as unknown as Parameters<typeof splitInWords>[1]
  const counts = results.map((one) => (one as { readonly count?: number }).count ?? null)
  const known = totals === null ? results.map(() => undefined) : (totals ?? counts)
  expect(splitInWords(query, answer, readChart(query, answer, 'UTC'), known).map(told)).toEqual(words)
})
