// Answers of every kind, as the engine gives them.

const labels = ['1-Jan-2026', '2-Jan-2026', '3-Jan-2026', '4-Jan-2026', '5-Jan-2026']
const days = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05']
const row = (label: string, data: readonly number[], more: object = {}) => ({
  label,
  data,
  days,
  labels,
  count: data.reduce((a, b) => a + b, 0),
  order: 0,
  ...more,
})
const total = (label: string, aggregated_value: number, more: object = {}) => ({
  label,
  data: [],
  days: [],
  labels: [],
  count: 0,
  aggregated_value,
  order: 0,
  ...more,
})
const step = (name: string, count: number, order: number, more: object = {}) => ({
  name,
  custom_name: null,
  count,
  order,
  average_conversion_time: order === 0 ? null : 190 * order,
  median_conversion_time: order === 0 ? null : 95 * order,
  ...more,
})
const trends = (display: string | undefined, results: readonly object[], more: object = {}) => ({
  query: { kind: 'TrendsQuery', series: [], trendsFilter: { display } },
  answer: { results, ...more },
})
const retained = (day: number, counts: readonly number[]) => ({
  label: `Day ${day}`,
  date: `2026-01-0${day + 1}T00:00:00+01:00`,
  values: counts.map((count, i) => ({ count, label: `Day ${i}` })),
  breakdown_value: null,
})

const spread = (i: number) => ({
  min: 1 + i,
  p25: 3 + i,
  median: 5 + i,
  p75: 9 + 2 * i,
  max: 20 + i,
  mean: 6 + i,
  series_index: 0,
  series_label: 'purchase',
})

const two = [row('signup', [10, 14, 9, 20, 26]), row('purchase', [2, 3, 1, 6, 8], { order: 1 })]

export const samples: Readonly<Record<string, { readonly query: object; readonly answer: object }>> = {
  lines: trends('ActionsLineGraph', two),
  'compared lines': trends('ActionsLineGraph', [
    row('signup', [10, 14, 9, 20, 26], { compare: true, compare_label: 'current' }),
    row('signup', [8, 9, 9, 10, 12], { compare: true, compare_label: 'previous' }),
  ]),
  areas: trends('ActionsAreaGraph', two),
  'a day that is not over': trends(
    'ActionsLineGraph',
    [
      row('signup', [10, 14, 9, 20, 3], { compare: true, compare_label: 'current' }),
      row('signup', [8, 9, 9, 10, 12], { compare: true, compare_label: 'previous' }),
    ],
    { last_refresh: '2026-01-05T10:00:00Z' },
  ),
  'bars side by side': trends('ActionsUnstackedBar', two),
  'stacked bars': trends('ActionsBar', two),
  totals: trends('ActionsBarValue', [total('Chrome', 1200), total('Firefox', 300, { order: 1 }), total('Safari', 90, { order: 2 })]),
  pie: trends('ActionsPie', [total('Chrome', 1200), total('Firefox', 300, { order: 1 }), total('Safari', 90, { order: 2 })]),
  number: trends('BoldNumber', [
    total('signup', 1234567, { compare: true, compare_label: 'current' }),
    total('signup', 1000000, { compare: true, compare_label: 'previous' }),
  ]),
  'a world map': trends('WorldMap', [
    total('DE', 120, { breakdown_value: 'DE' }),
    total('US', 80, { breakdown_value: 'US' }),
    total('SG', 9, { breakdown_value: 'SG' }),
    total('(none)', 4, { breakdown_value: '$$_posthog_breakdown_null_$$' }),
    total('<b>Mars</b>', 3, { breakdown_value: '<b>Mars</b>' }),
  ]),
  'a map without countries': trends('WorldMap', [total('Chrome', 120, { breakdown_value: 'Chrome' })]),
  'hours of the week': trends('CalendarHeatmap', [
    row('signup', [], {
      calendar_heatmap_data: {
        data: [
          { row: 1, column: 9, value: 12 },
          { row: 1, column: 10, value: 30 },
          { row: 6, column: 22, value: 4 },
        ],
      },
    }),
  ]),
  'compared hours of the week': trends(
    'CalendarHeatmap',
    (['current', 'previous'] as const).map((compare_label, i) =>
      row('signup', [], {
        compare: true,
        compare_label,
        calendar_heatmap_data: {
          data: [
            { row: 1, column: 9, value: 12 + 8 * i },
            { row: 7, column: 20 + i, value: 4 },
          ],
        },
      }),
    ),
  ),
  'compared box plot': trends('BoxPlot', [], {
    resolved_date_range: { date_from: '2026-01-01T00:00:00+01:00', date_to: '2026-01-05T23:59:59.999999+01:00' },
    resolved_compare_date_range: { date_from: '2025-12-27T00:00:00+01:00', date_to: '2025-12-31T23:59:59.999999+01:00' },
    boxplot_data: [
      // Nothing on 2 January; on 31 December, the place of 5 January, only in the previous period.
      ...[0, 2, 3].map((day) => ({ ...spread(day), day: days[day], label: labels[day], compare: true, compare_label: 'current' })),
      ...[0, 2, 4].map((day) => ({
        ...spread(day + 2),
        day: `2025-12-${27 + day}`,
        label: `${27 + day}-Dec-2025`,
        compare: true,
        compare_label: 'previous',
      })),
    ],
  }),
  'box plot': trends('BoxPlot', [], {
    boxplot_data: days.map((day, i) => ({ day, label: labels[i], ...spread(i) })),
  }),
  funnel: {
    query: { kind: 'FunnelsQuery', series: [] },
    answer: { results: [step('visit', 1000, 0), step('signup', 420, 1), step('purchase', 63, 2)] },
  },
  'funnel by browser': {
    query: { kind: 'FunnelsQuery', series: [] },
    answer: {
      results: [
        [step('visit', 600, 0, { breakdown_value: ['Chrome'] }), step('signup', 300, 1, { breakdown_value: ['Chrome'] })],
        [step('visit', 400, 0, { breakdown_value: ['Firefox'] }), step('signup', 120, 1, { breakdown_value: ['Firefox'] })],
      ],
    },
  },
  'time to convert': {
    query: { kind: 'FunnelsQuery', series: [] },
    answer: { results: { average_conversion_time: 310, median_conversion_time: 200, bins: [[0, 12], [120, 40], [240, 9], [360, 0]] } }, // biome-ignore format: pairs
  },
  'compared time to convert': {
    query: { kind: 'FunnelsQuery', series: [] },
    answer: {
      results: { bins: [[0, 12], [120, 40], [240, 9], [360, 0]] }, // biome-ignore format: pairs
      compare_results: { bins: [[0, 20], [120, 4], [240, 0], [360, 1]] }, // biome-ignore format: pairs
    },
  },
  'funnel over time': {
    query: { kind: 'FunnelsQuery', series: [] },
    answer: { results: [{ count: 5, data: [10, 20, 15.5, 40, 33.3], days, labels }] },
  },
  retention: {
    query: { kind: 'RetentionQuery' },
    answer: { results: [retained(0, [100, 40, 31, 22]), retained(1, [80, 35, 20]), retained(2, [0, 0]), retained(3, [64])] },
  },
  stickiness: {
    query: { kind: 'StickinessQuery', stickinessFilter: { display: 'ActionsBar' } },
    answer: {
      results: [{ label: 'visit', data: [50, 20, 8], days: [1, 2, 3], labels: ['1 day', '2 days', '3 days'], count: 78, action: {} }],
    },
  },
  lifecycle: {
    query: { kind: 'LifecycleQuery' },
    answer: {
      results: [
        { status: 'new', label: 'visit - new', data: [5, 6, 7, 3, 2], count: 23, days, labels },
        { status: 'returning', label: 'visit - returning', data: [0, 3, 4, 6, 7], count: 20, days, labels },
        { status: 'resurrecting', label: 'visit - resurrecting', data: [0, 0, 1, 2, 1], count: 4, days, labels },
        { status: 'dormant', label: 'visit - dormant', data: [0, -2, -3, -4, -2], count: -11, days, labels },
      ],
    },
  },
  paths: {
    query: { kind: 'PathsQuery' },
    answer: {
      results: [
        { source: '1_/home', target: '2_/pricing', value: 40, average_conversion_time: 1000 },
        { source: '1_/home', target: '2_/docs', value: 25, average_conversion_time: 1000 },
        { source: '2_/pricing', target: '3_/signup', value: 12, average_conversion_time: 1000 },
        { source: '2_/docs', target: '3_/pricing', value: 6, average_conversion_time: 1000 },
      ],
    },
  },
  correlation: {
    query: { kind: 'FunnelCorrelationQuery' },
    answer: {
      results: {
        events: [{ event: { event: 'watched video', properties: {}, elements: [] }, success_count: 30, failure_count: 4, odds_ratio: 7.5 }],
        skewed: false,
      },
    },
  },
  statement: {
    query: { kind: 'DataVisualizationNode', source: { kind: 'HogQLQuery', query: 'select …' } },
    answer: {
      columns: ['event', 'count()', 'last'],
      results: [
        ['signup', 12345, '2026-01-05T10:00:00Z'],
        ['purchase', 80, '2026-01-04T23:30:00Z'],
        ['<script>', null, { a: [1] }],
      ],
    },
  },
  'rows of objects': { query: { kind: 'WebOverviewQuery' }, answer: { results: [{ key: 'visitors', value: 12, previous: 10 }] } },
  nothing: trends('ActionsLineGraph', []),
}
