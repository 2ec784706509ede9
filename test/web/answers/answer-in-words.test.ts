import { expect, test } from 'vitest'
import { readChart } from '../../../src/service/pictures/read-chart.ts'
import { answerInWords, changeOf, type Saying, type Whole } from '../../../src/web/answers/answer-in-words.ts'

// What an answer says before it is drawn.

/** `18.4% more than 100: about` */
const told = ({ value, about, change }: Saying) =>
  `${value} ${about}${change === null ? '' : ` ${{ '-1': '▼', 0: '=', 1: '▲' }[change.direction]} ${change.by} was ${change.was}`}`
const days = ['2026-06-14', '2026-06-15', '2026-06-16']
const labels = ['14-Jun-2026', '15-Jun-2026', '16-Jun-2026']
const row = (data: readonly number[], more: object = {}) => ({ data, days, labels, count: 0, label: 'x', ...more })
const node = (event: string | null, more: object = {}) => ({ kind: 'EventsNode', event, name: event ?? 'All events', ...more })
const trend = (series: readonly object[], more: object = {}) => ({ kind: 'TrendsQuery', series, interval: 'day', ...more })
const whole = (order: number, now: Whole['now'], before?: Whole['before']): Whole => ({ order, now, before })
const twoRows = [row([1, 2, 3]), row([1, 1, 1], { order: 1 })]
const previous = { compare: true, compare_label: 'previous' }

const step = (name: string, count: number, time: number | null, more: object = {}) => ({
  name,
  count,
  median_conversion_time: time,
  average_conversion_time: time,
  ...more,
})
const cohort = (at: number, counts: readonly number[], more: object = {}) => ({
  label: `Day ${at}`,
  date: `2026-06-1${at}T00:00:00Z`,
  values: counts.map((count, i) => ({ count, label: `Day ${i}` })),
  ...more,
})

interface Case {
  readonly query: { readonly kind: string; readonly [field: string]: unknown }
  readonly results: unknown
  readonly wholes?: readonly Whole[]
  readonly computed?: string
}

test.each<[name: string, of: Case, words: readonly string[]]>([
  [
    'events and people',
    {
      query: trend([node('$pageview'), node('signed up', { math: 'dau' })]),
      results: twoRows,
      wholes: [whole(0, 1423), whole(1, 30845, 26052)],
    },
    ['1,423 Pageview events', '30,845 unique people: signed up ▲ 18.4% was 26,052'],
  ],
  [
    'what is still asked',
    { query: trend([node('$pageview')]), results: [row([1, 2, 3])], wholes: [whole(0, undefined)] },
    ['… Pageview events'],
  ],
  [
    'less than before, and as before, and none before',
    {
      query: trend([node('a'), node('b'), node('c')]),
      results: twoRows,
      wholes: [whole(0, 50, 200), whole(1, 7, 7), whole(2, 3, 0)],
    },
    ['50 a events ▼ 75% was 200', '7 b events =  was 7', '3 c events ▲  was 0'],
  ],
  [
    'a name that somebody gave, and a sum',
    {
      query: trend([
        node('$pageview', { math: 'dau', custom_name: 'Our visitors' }),
        node('purchase', { math: 'sum', math_property: 'price' }),
      ]),
      results: twoRows,
      wholes: [whole(0, 5), whole(1, 12.5)],
    },
    ['5 Our visitors', '12.5 sum of price: purchase'],
  ],
  [
    'a rate changes by points',
    {
      query: trend([node('a'), node('b')], {
        trendsFilter: { formulaNodes: [{ formula: 'A / B * 100', custom_name: 'Rate' }], aggregationAxisFormat: 'percentage' },
      }),
      results: [row([1, 2, 3], { action: null })],
      wholes: [whole(0, 3.9, 3.5)],
    },
    ['3.9% Rate ▲ 0.4 points was 3.5%'],
  ],
  [
    'the people of a week, of which a range has no number: those of the last day that is over',
    {
      query: trend([node('$pageview', { math: 'weekly_active' })]),
      results: [row([10, 20, 5]), row([8, 10, 12], previous)],
      wholes: [whole(0, null, null)],
      computed: '2026-06-16T10:00:00Z',
    },
    ['20 weekly active people: Pageview, 15 Jun ▲ 100% was 10'],
  ],
  [
    'a number says itself',
    {
      query: trend([node('a')], { trendsFilter: { display: 'BoldNumber' } }),
      results: [{ aggregated_value: 3, label: 'a' }],
      wholes: [whole(0, 3)],
    },
    [],
  ],
  ['nothing', { query: trend([node('a')]), results: [], wholes: [] }, []],
  [
    'a funnel of two steps',
    { query: { kind: 'FunnelsQuery', series: [] }, results: [step('seen', 200, null), step('bought', 30, 372)] },
    ['15% converted', '6m 12s median from first to last step'],
  ],
  [
    'a funnel of three steps, and the period before',
    {
      query: { kind: 'FunnelsQuery', series: [], compareFilter: { compare: true } },
      results: [
        [step('seen', 200, null), step('added', 100, 38), step('bought', 30, 124)],
        [step('seen', 100, null, previous), step('added', 40, 30, previous), step('bought', 10, 60, previous)],
      ],
    },
    ['15% converted ▲ 5 points was 10%', '2m 4s median to bought, the slowest step', '70% dropped off before bought: the biggest drop-off'],
  ],
  [
    'a split funnel says nothing until all together are known',
    {
      query: { kind: 'FunnelsQuery', series: [], breakdownFilter: { breakdown: 'plan' } },
      results: [[step('seen', 20, null, { breakdown_value: ['pro'] }), step('bought', 3, 10, { breakdown_value: ['pro'] })]],
    },
    [],
  ],
  [
    'the time to convert',
    {
      query: { kind: 'FunnelsQuery', series: [], funnelsFilter: { funnelVizType: 'time_to_convert' } },
      results: {
        bins: [
          [0, 3],
          [60, 1],
        ],
        average_conversion_time: 95,
      },
    },
    ['1m 35s on average from first to last step'],
  ],
  [
    'a retention, without intervals that nobody can have reached',
    {
      query: { kind: 'RetentionQuery', retentionFilter: { period: 'Day' } },
      results: [cohort(0, [100, 20, 10]), cohort(1, [50, 10, 0]), cohort(2, [10, 0, 0])],
      computed: '2026-06-12T10:00:00Z',
    },
    ['20% came back, Day 1'],
  ],
  [
    'a stickiness',
    { query: { kind: 'StickinessQuery', series: [node('a')], interval: 'week' }, results: [row([6, 3, 1])] },
    ['10 active', '1.5 weeks each, on average'],
  ],
  [
    'a stickiness of at least so many',
    {
      query: { kind: 'StickinessQuery', series: [node('a')], interval: 'day', stickinessFilter: { computedAs: 'cumulative' } },
      results: [row([10, 4, 1]), row([20, 4, 1], previous)],
    },
    ['10 active ▼ 50% was 20', '1.5 days each, on average ▲ 20% was 1.3'],
  ],
  [
    'a lifecycle: the last day that is over beside the day before',
    {
      query: { kind: 'LifecycleQuery', series: [node('a')], interval: 'day' },
      results: [row([1, 4, 9], { status: 'new' }), row([-2, -3, -9], { status: 'dormant' })],
      computed: '2026-06-16T10:00:00Z',
    },
    ['4 new, 15 Jun ▲ 300% was 1', '3 dormant, 15 Jun ▲ 50% was 2'],
  ],
  [
    'paths',
    {
      query: { kind: 'PathsQuery' },
      results: [
        { source: '1_/a', target: '2_/b', value: 12 },
        { source: '1_/a', target: '2_/c', value: 30 },
      ],
    },
    ['30 from /a to /c, more than anywhere else'],
  ],
])('%s', (_, { query, results, wholes = [], computed = '2026-06-20T00:00:00Z' }, words) => {
  const answer = { results, last_refresh: computed } as unknown as Parameters<typeof answerInWords>[1]
  const chart = readChart(query, answer, 'UTC')
  expect(answerInWords(query, answer, chart, wholes).map(told)).toEqual(words)
})

test('a change without a number to compare is none', () => {
  const plain = { style: 'numeric', prefix: '', postfix: '', decimals: null } as const
  expect(changeOf(null, 3, plain)).toBe(null)
  expect(changeOf(3, undefined, plain)).toBe(null)
  expect(changeOf(0.5, 0.25, { ...plain, style: 'percentage_scaled' })).toEqual({ direction: 1, by: '25 points', was: '25%' })
})
