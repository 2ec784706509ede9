// Questions that the lists of the core answer. The period is the first days of March 2026.

const series = ['visit', 'sign up', 'buy'].map((event) => ({ kind: 'EventsNode', event }) as const)
const dateRange = { date_from: '2026-03-01', date_to: '2026-03-09' }
export const questions = {
  ordered: { kind: 'FunnelsQuery', series, dateRange },
  strict: { kind: 'FunnelsQuery', series, dateRange, funnelsFilter: { funnelOrderType: 'strict' } },
  unordered: { kind: 'FunnelsQuery', series, dateRange, funnelsFilter: { funnelOrderType: 'unordered' } },
  'by day': { kind: 'FunnelsQuery', series, dateRange, interval: 'day', funnelsFilter: { funnelVizType: 'trends' } },
  uniques: { kind: 'TrendsQuery', series: [{ ...series[0]!, math: 'dau' }], dateRange },
  'weekly actives': {
    kind: 'TrendsQuery',
    series: [
      { ...series[0]!, math: 'weekly_active' },
      { kind: 'EventsNode', math: 'monthly_active' },
    ],
    dateRange,
  },
} as const

export const trend = (...nodes: readonly object[]) => ({ kind: 'TrendsQuery', series: nodes, dateRange })
export const visits = (math: string, more: object = {}) => ({ ...series[0]!, math, ...more })
const isPro = { key: 'plan', value: 'pro', type: 'event' } as const
const isVip = { key: 'vip', value: 'true', type: 'person' } as const
const byPlan = { breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } } as const
const byCompany = { math_group_type_index: 0 } as const
const ofAmount = { math_property: 'amount' } as const
/** With conditions and values beyond the names of events. */
export const detailed: Readonly<Record<string, object>> = {
  'a count': trend(series[0]!, visits('total', { properties: [isPro] })),
  'all names': trend({ kind: 'EventsNode', event: null, properties: [isPro] }),
  'a breakdown': { ...trend(series[0]!, visits('dau')), ...byPlan },
  'a breakdown by two properties': {
    ...trend(series[0]!),
    breakdownFilter: { breakdowns: [{ property: 'plan' }, { property: 'vip', type: 'person' }] },
  },
  'weekly actives by a property': { ...trend(visits('weekly_active')), ...byPlan },
  numbers: trend(...['sum', 'avg', 'min', 'max', 'median', 'p90'].map((math) => visits(math, ofAmount))),
  'numbers by a property': { ...trend(...['sum', 'p75'].map((math) => visits(math, ofAmount))), ...byPlan },
  'one number': { ...trend(visits('sum', ofAmount), visits('monthly_active')), trendsFilter: { display: 'BoldNumber' } },
  'visits per person': trend(...['avg', 'max', 'median'].map((math) => visits(`${math}_count_per_actor`))),
  'first times': {
    ...trend(visits('first_time_for_user'), visits('first_matching_event_for_user', { properties: [isPro] })),
    ...byPlan,
  },
  'running totals': { ...trend(visits('dau'), series[1]!), trendsFilter: { display: 'ActionsLineGraphCumulative' } },
  'a formula': { ...trend(series[0]!, visits('sum', ofAmount)), trendsFilter: { formula: 'B / A' }, compareFilter: { compare: true } },
  'properties of persons': {
    ...trend(series[0]!, visits('dau', { properties: [isVip] })),
    breakdownFilter: { breakdown: 'vip', breakdown_type: 'person' },
  },
  'a filter': { ...trend(series[0]!), properties: [isPro, isVip] },
  lifecycle: { kind: 'LifecycleQuery', series: [series[0]!], dateRange },
  'a filtered lifecycle': { kind: 'LifecycleQuery', series: [series[0]!], dateRange, properties: [isPro, isVip] },
  sessions: { ...trend(visits('unique_session')), ...byPlan },
  'companies by day': trend(
    visits('unique_group', { ...byCompany, properties: [isPro] }),
    visits('dau', byCompany),
    visits('weekly_active', byCompany),
    ...['avg', 'max'].map((math) => visits(`${math}_count_per_actor`, byCompany)),
    visits('first_time_for_user', byCompany),
    visits('total', byCompany),
  ),
  'new companies': { ...trend(visits('dau', byCompany)), ...byPlan, trendsFilter: { display: 'ActionsLineGraphCumulative' } },
  'first times in a funnel': {
    ...questions.ordered,
    series: [
      { ...series[0]!, math: 'first_time_for_user', properties: [isPro] },
      { ...series[1]!, math: 'first_time_for_user_with_filters', properties: [isPro] },
      { ...series[2]!, math: 'first_matching_event_for_user' },
    ],
    properties: [isVip],
  },
  'first times of companies in a strict funnel': {
    ...questions.strict,
    series: [{ ...series[0]!, math: 'first_time_for_user' }, series[1]!],
    aggregation_group_type_index: 0,
  },
  'a funnel of companies': { ...questions.ordered, aggregation_group_type_index: 0 },
  'a strict funnel of companies by a property': { ...questions.strict, ...byPlan, aggregation_group_type_index: 0 },
  'an unordered funnel of companies': { ...questions.unordered, aggregation_group_type_index: 0, properties: [isPro] },
  'companies of a step': {
    kind: 'ActorsQuery',
    select: ['actor'],
    source: { kind: 'FunnelsActorsQuery', funnelStep: 2, source: { ...questions.ordered, aggregation_group_type_index: 0 } },
  },
  retention: { kind: 'RetentionQuery', dateRange, retentionFilter: { targetEntity: { id: 'sign up' }, returningEntity: { id: 'visit' } } },
  'a retention by first events': {
    kind: 'RetentionQuery',
    dateRange,
    retentionFilter: {
      targetEntity: { id: 'visit', properties: [isPro] },
      returningEntity: { id: null },
      retentionType: 'retention_first_ever_occurrence',
      timeWindowMode: '24_hour_windows',
    },
    breakdownFilter: { breakdown: 'vip', breakdown_type: 'person' },
  },
  'a retention with sums': {
    kind: 'RetentionQuery',
    dateRange,
    retentionFilter: {
      targetEntity: { id: 'visit' },
      returningEntity: { id: 'buy' },
      aggregationType: 'sum',
      aggregationProperty: 'amount',
      retentionCustomBrackets: [1, 3],
    },
    properties: [isVip],
  },
  'a retention of companies': {
    kind: 'RetentionQuery',
    dateRange,
    retentionFilter: { targetEntity: { id: 'visit' }, returningEntity: { id: 'buy' } },
    ...byPlan,
    aggregation_group_type_index: 0,
  },
  'stickiness of companies': {
    kind: 'StickinessQuery',
    series: [{ ...series[0]!, properties: [isPro] }],
    dateRange,
    aggregation_group_type_index: 0,
  },
  paths: { kind: 'PathsQuery', dateRange, properties: [isPro] },
  'paths of companies between two points': {
    kind: 'PathsQuery',
    dateRange,
    pathsFilter: { includeEventTypes: ['custom_event'], startPoint: 'visit', endPoint: 'buy', stepLimit: 3, pathGroupings: ['sign*'] },
    aggregation_group_type_index: 0,
  },
  'paths after a step': {
    kind: 'PathsQuery',
    dateRange,
    properties: [isVip],
    funnelPathsFilter: { funnelPathType: 'funnel_path_after_step', funnelStep: 1, funnelSource: questions.ordered },
  },
  stickiness: { kind: 'StickinessQuery', series: [series[0]!, series[2]!], dateRange, compareFilter: { compare: true } },
  'a filtered stickiness': {
    kind: 'StickinessQuery',
    series: [{ ...series[0]!, properties: [isPro] }],
    dateRange,
    interval: 'week',
    properties: [isVip],
    stickinessFilter: { computedAs: 'cumulative', stickinessCriteria: { operator: 'lte', value: 2 } },
  },
  'an expression': { ...trend(series[0]!), properties: [{ type: 'hogql', key: "properties.amount > 10 or event = 'buy'" }] },
  'a funnel with conditions': {
    ...questions.ordered,
    series: [{ ...series[0]!, properties: [isPro] }, series[1]!, { kind: 'EventsNode', event: null, properties: [isVip] }],
  },
  'a filtered funnel': { ...questions.ordered, properties: [isVip] },
  'a strict, filtered funnel': { ...questions.strict, properties: [isPro] },
  'a funnel by a property': { ...questions.ordered, ...byPlan },
  'a funnel by two properties': {
    ...questions.unordered,
    breakdownFilter: {
      breakdowns: [
        { property: 'vip', type: 'person' },
        { property: 'plan', type: 'event' },
      ],
    },
  },
  'a funnel with an exclusion': {
    ...questions.ordered,
    funnelsFilter: { exclusions: [{ kind: 'EventsNode', event: 'other', properties: [isPro], funnelFromStep: 0, funnelToStep: 1 }] },
  },
  'a property of groups': {
    ...trend(visits('dau', { properties: [{ key: 'size', value: 'large', type: 'group', group_type_index: 0, operator: 'is_not' }] })),
    breakdownFilter: { breakdown: 'size', breakdown_type: 'group', breakdown_group_type_index: 0 },
  },
  'a property of sessions': { ...trend(visits('dau')), breakdownFilter: { breakdown: '$entry_pathname', breakdown_type: 'session' } },
  'the length of sessions': trend(visits('avg', { math_property: '$session_duration' })),
  'companies by persons': { ...trend(visits('dau', byCompany)), properties: [isVip] },
  'events or persons': { ...trend(visits('dau')), properties: { type: 'OR', values: [{ type: 'AND', values: [isPro, isVip] }] } },
  'a sample': { ...trend(visits('dau')), samplingFactor: 0.5 },
  'a histogram': { ...trend(series[0]!), breakdownFilter: { breakdown: 'amount', breakdown_histogram_bin_count: 3 } },
  'an aggregate': trend(visits('hogql', { math_hogql: 'sum(toFloat(properties.amount)) / count()' })),
  'actors of a day': {
    kind: 'ActorsQuery',
    select: ['id', 'event_count'],
    orderBy: ['id'],
    source: { kind: 'InsightActorsQuery', day: '2026-03-03', breakdown: 'pro', source: { ...trend(visits('dau')), ...byPlan } },
  },
  'a web overview': { kind: 'WebOverviewQuery', dateRange, properties: [] },
}
