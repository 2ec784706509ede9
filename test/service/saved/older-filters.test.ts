import { expect, test } from 'vitest'
import { olderKinds, queryOfFilters } from '../../../src/service/saved/older-filters.ts'
import { checkedQuery } from '../../../src/service/saved/saved-query.ts'

// The older form of insights, and the query that each becomes.

const paid = { kind: 'EventsNode', event: 'paid' }
const page = { kind: 'EventsNode', event: '$pageview' }
const person = { key: 'plan', value: 'pro', operator: 'exact', type: 'person' }

const cases: readonly (readonly [name: string, filters: object, source: object])[] = [
  ['a trend is the default', { events: [{ id: 'paid' }] }, { kind: 'TrendsQuery', series: [paid] }],
  [
    'the id null is any event',
    { events: [{ id: null, name: 'All events' }] },
    { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', name: 'All events' }] },
  ],
  [
    'events and actions in their order',
    { events: [{ id: 'paid', order: 1, type: 'events' }], actions: [{ id: '7', order: 0, type: 'actions', math: 'dau' }] },
    { kind: 'TrendsQuery', series: [{ kind: 'ActionsNode', id: 7, math: 'dau' }, paid] },
  ],
  ['lists as JSON, as URLs have them', { events: '[{"id":"paid"}]' }, { kind: 'TrendsQuery', series: [paid] }],
  [
    'a filter of a trend lands in its part of the query',
    {
      insight: 'TRENDS',
      events: [{ id: 'paid', math: 'sum', math_property: 'price', properties: [person] }],
      display: 'ActionsLineGraphCumulative',
      interval: 'week',
      date_from: '-30d',
      date_to: null,
      formula: 'A * 2',
      breakdown: 'plan',
      breakdown_type: 'person',
      compare: 'true',
      filter_test_accounts: 'false',
      smoothing_intervals: '3',
    },
    {
      kind: 'TrendsQuery',
      series: [{ ...paid, math: 'sum', math_property: 'price', properties: [person] }],
      interval: 'week',
      dateRange: { date_from: '-30d' },
      trendsFilter: { display: 'ActionsLineGraphCumulative', formula: 'A * 2', smoothingIntervals: 3 },
      breakdownFilter: { breakdown: 'plan', breakdown_type: 'person' },
      compareFilter: { compare: true },
      filterTestAccounts: false,
    },
  ],
  [
    'filters without type and operator, and the oldest form of them',
    { events: [{ id: 'paid', properties: { $browser: 'Firefox', price__gt: 5 } }], properties: [{ key: 'a', value: 1 }] },
    {
      kind: 'TrendsQuery',
      series: [
        {
          ...paid,
          properties: [
            { type: 'event', key: '$browser', operator: 'exact', value: 'Firefox' },
            { type: 'event', key: 'price', operator: 'gt', value: 5 },
          ],
        },
      ],
      properties: [{ type: 'event', operator: 'exact', key: 'a', value: 1 }],
    },
  ],
  [
    'groups of filters',
    { events: [{ id: 'paid' }], properties: { type: 'OR', values: [{ type: 'AND', values: [person] }] } },
    { kind: 'TrendsQuery', series: [paid], properties: { type: 'OR', values: [{ type: 'AND', values: [person] }] } },
  ],
  [
    'a funnel',
    {
      insight: 'FUNNELS',
      events: [{ id: '$pageview' }, { id: 'paid' }],
      funnel_window_days: 14,
      funnel_order_type: 'strict',
      funnel_viz_type: 'steps',
      exclusions: [{ id: 'refunded', type: 'events', funnel_from_step: 0, funnel_to_step: 1 }],
      breakdown_attribution_type: 'first_touch',
      layout: 'horizontal',
    },
    {
      kind: 'FunnelsQuery',
      series: [page, paid],
      funnelsFilter: {
        funnelWindowInterval: 14,
        funnelWindowIntervalUnit: 'day',
        funnelOrderType: 'strict',
        funnelVizType: 'steps',
        exclusions: [{ kind: 'EventsNode', event: 'refunded', funnelFromStep: 0, funnelToStep: 1 }],
        breakdownAttributionType: 'first_touch',
      },
    },
  ],
  [
    'a retention',
    {
      insight: 'RETENTION',
      target_entity: '{"id":"$pageview","type":"events"}',
      returning_entity: { id: 'paid', type: 'events', order: 0, name: 'paid' },
      period: 'Week',
      total_intervals: '8',
      retention_type: 'retention_first_time',
    },
    {
      kind: 'RetentionQuery',
      retentionFilter: {
        targetEntity: { id: '$pageview', type: 'events' },
        returningEntity: { id: 'paid', type: 'events' },
        period: 'Week',
        totalIntervals: 8,
        retentionType: 'retention_first_time',
      },
    },
  ],
  [
    'paths',
    { insight: 'PATHS', include_event_types: ['$pageview'], start_point: '/', step_limit: 5, path_groupings: ['/a/*'], date_from: '-7d' },
    {
      kind: 'PathsQuery',
      dateRange: { date_from: '-7d' },
      pathsFilter: { includeEventTypes: ['$pageview'], startPoint: '/', stepLimit: 5, pathGroupings: ['/a/*'] },
    },
  ],
  [
    'stickiness',
    { insight: 'STICKINESS', events: [{ id: 'paid' }], interval: 'day' },
    { kind: 'StickinessQuery', series: [paid], interval: 'day' },
  ],
  ['a lifecycle', { insight: 'LIFECYCLE', events: [{ id: 'paid' }] }, { kind: 'LifecycleQuery', series: [paid] }],
  ['a lifecycle that is shown as a trend', { shown_as: 'Lifecycle', events: [{ id: 'paid' }] }, { kind: 'LifecycleQuery', series: [paid] }],
  [
    'empty fields of other kinds',
    { events: [{ id: 'paid' }], target_entity: {}, funnel_step: null, path_type: '' },
    { kind: 'TrendsQuery', series: [paid] },
  ],
]
test.each(cases)('%s', (_, filters, source) => {
  const query = queryOfFilters(filters as never)
  expect(query).toEqual({ kind: 'InsightVizNode', source })
  expect(checkedQuery(query)).toEqual(source)
})

test('each kind has a case', () => {
  const shown = cases.map(([, filters]) => ('insight' in filters ? filters.insight : 'TRENDS'))
  expect(olderKinds.filter((kind) => !shown.includes(kind))).toEqual([])
})

const refusals: readonly (readonly [name: string, filters: object, attr: string, hint?: string])[] = [
  ['an unknown kind', { insight: 'SQL' }, 'filters__insight'],
  ['an unknown filter', { events: [], sampling: 1 }, 'filters__sampling', 'Did you mean sampling_factor?'],
  ['a filter of another kind', { insight: 'LIFECYCLE', events: [{ id: 'a' }], formula: 'A' }, 'filters__formula'],
  ['the funnel of a path', { insight: 'PATHS', funnel_paths: 'funnel_path_before_step' }, 'filters__funnel_paths'],
  ['an unknown field of an event', { events: [{ id: 'a', mth: 'dau' }] }, 'filters__events__0__mth', 'Did you mean math?'],
  ['an event that is none', { events: ['paid'] }, 'filters__events__0'],
  ['no JSON', { events: '[' }, 'filters__events'],
  ['no number', { events: [{ id: 'a' }], smoothing_intervals: 'many' }, 'filters__smoothing_intervals'],
  ['no truth', { events: [{ id: 'a' }], compare: 'perhaps' }, 'filters__compare'],
]
test.each(refusals)('%s is refused', (_, filters, attr, hint = '') => {
  expect(() => queryOfFilters(filters as never)).toThrow(expect.objectContaining({ attr, message: expect.stringContaining(String(hint)) }))
})
