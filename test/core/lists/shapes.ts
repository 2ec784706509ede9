import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import type { LocalProject } from '../../../src/project.ts'

// The shapes of insight queries: which of them the lists of the core answer, and why they do not answer the others. A fold that is lost, or gained, shows here.

const dateRange = { date_from: '2026-03-01', date_to: '2026-03-09' }
const visit = { kind: 'EventsNode', event: 'visit' } as const
const signUp = { kind: 'EventsNode', event: 'sign up' } as const
const buy = { kind: 'EventsNode', event: 'buy' } as const
const visits = (math: string, more: object = {}) => ({ ...visit, math, ...more })
const trend = (series: object | readonly object[], more: object = {}) => ({
  kind: 'TrendsQuery',
  series: Array.isArray(series) ? series : [series],
  dateRange,
  ...more,
})
const shown = (display: string, more: object = {}) => ({ trendsFilter: { display, ...more } })
const by = (breakdown: unknown, type: string, more: object = {}) => ({ breakdownFilter: { breakdown, breakdown_type: type, ...more } })
const funnel = (more: object = {}) => ({ kind: 'FunnelsQuery', series: [visit, signUp, buy], dateRange, ...more })
const funnelOf = (filter: object, more: object = {}) => funnel({ funnelsFilter: filter, ...more })
const retention = (filter: object = {}, more: object = {}) => ({
  kind: 'RetentionQuery',
  dateRange,
  retentionFilter: { targetEntity: { id: 'visit' }, returningEntity: { id: 'buy' }, ...filter },
  ...more,
})
const stickiness = (more: object = {}) => ({ kind: 'StickinessQuery', series: [visit], dateRange, ...more })
const lifecycle = (more: object = {}) => ({ kind: 'LifecycleQuery', series: [visit], dateRange, ...more })
const paths = (pathsFilter: object = {}, more: object = {}) => ({ kind: 'PathsQuery', dateRange, pathsFilter, ...more })
const actors = (source: object, select: readonly string[] = ['actor']) => ({
  kind: 'ActorsQuery',
  select,
  source,
  orderBy: ['id'],
  limit: 1000,
})
const behind = (source: object, point: object = {}) => actors({ kind: 'InsightActorsQuery', source, ...point })
const counted = (source: object, point: object = {}) => actors({ kind: 'InsightActorsQuery', source, ...point }, ['id', 'event_count'])

const isPro = { key: 'plan', value: 'pro', type: 'event' } as const
const isVip = { key: 'vip', value: 'true', type: 'person' } as const
const isLarge = { key: 'size', value: 10, operator: 'gt', type: 'group', group_type_index: 0 } as const
const isLong = { key: '$session_duration', value: 600, operator: 'gt', type: 'session' } as const
const isIn = (cohort: number) => ({ key: 'id', value: cohort, type: 'cohort' })
const either = {
  type: 'OR',
  values: [
    { type: 'AND', values: [isPro, isVip] },
    { type: 'AND', values: [isLarge] },
  ],
}
const where = (...properties: object[]) => ({ properties })
const perCompany = { math_group_type_index: 0 }
const ofCompanies = { aggregation_group_type_index: 0 }
const ofAmount = { math_property: 'amount' }
const comparedWithDays = { compareFilter: { compare: true, compare_to: '-2d' } }
const sampled = { samplingFactor: 0.5 }
const day = '2026-03-05'

export const propertyMaths = ['sum', 'avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99']
export const actorMaths = propertyMaths.filter((math) => math !== 'sum').map((math) => `${math}_count_per_actor`)
const named = <T>(prefix: string, values: readonly T[], query: (value: T) => object): Record<string, object> =>
  Object.fromEntries(values.map((value) => [`${prefix} ${JSON.stringify(value)}`, query(value)]))

/** What the world has to be asked about. */
export interface Known {
  readonly cohort: number
  readonly action: number
}

export const shapesOf = ({ cohort, action }: Known): Readonly<Record<string, object>> => ({
  ...named(
    'trend, math',
    [
      'total',
      'dau',
      'weekly_active',
      'monthly_active',
      'unique_session',
      'first_time_for_user',
      'first_matching_event_for_user',
      'first_time_for_user_with_filters',
    ],
    (math) => trend(visits(math, where(isPro))),
  ),
  ...named('trend, math of a property', propertyMaths, (math) => trend(visits(math, ofAmount))),
  ...named('trend, math of counts', actorMaths, (math) => trend(visits(math))),
  ...named('trend of companies, math', ['dau', 'unique_group', 'weekly_active', 'first_time_for_user', 'avg_count_per_actor'], (math) =>
    trend(visits(math, perCompany)),
  ),
  ...named('trend, math of the length of sessions', ['avg', 'sum', 'min', 'max', 'median', 'p90'], (math) =>
    trend(visits(math, { math_property: '$session_duration' })),
  ),
  'trend, length of sessions by a property': trend(visits('avg', { math_property: '$session_duration' }), by('plan', 'event')),
  'trend, length of sessions in one number': trend(visits('avg', { math_property: '$session_duration' }), shown('BoldNumber')),
  'trend, math of a property of persons': trend(visits('sum', { math_property: 'age', math_property_type: 'person_properties' })),
  'trend, math of a property of sessions': trend(
    visits('avg', { math_property: '$pageview_count', math_property_type: 'session_properties' }),
  ),
  'trend, math of a property with a factor': trend(visits('sum', { ...ofAmount, math_multiplier: 0.5 })),
  'trend, math of the time': trend(visits('max', { math_property: '$time' })),
  ...named(
    'trend, expression',
    [
      'count()',
      'sum(properties.amount)',
      'sum(properties.amount) / count()',
      "countIf(properties.plan = 'pro') * 100 / count()",
      'uniq(person_id)',
      'count(distinct person_id)',
      'avg(toFloat(properties.amount)) + max(toFloat(properties.amount))',
      'quantile(0.9)(toFloat(properties.amount))',
      "uniqIf(person_id, properties.plan = 'pro')",
      'count(distinct properties.plan)',
      'argMax(toFloat(properties.amount), timestamp)',
    ],
    (text) => trend(visits('hogql', { math_hogql: text })),
  ),
  'trend, expression by a property': trend(visits('hogql', { math_hogql: 'sum(properties.amount) / count()' }), by('plan', 'event')),
  'trend, several series and a formula': trend([visit, visits('sum', ofAmount)], { trendsFilter: { formula: 'B / A' } }),
  'trend, compared': trend(visits('dau'), { compareFilter: { compare: true } }),
  'trend, all events': trend({ kind: 'EventsNode', event: null, math: 'dau' }),
  'trend, an action': trend({ kind: 'ActionsNode', id: action, math: 'dau' }),
  'trend, events combined': trend({ kind: 'GroupNode', operator: 'OR', nodes: [visit, buy], math: 'dau' }),
  ...named('trend, by', ['hour', 'week', 'month'], (interval) => trend(visits('dau'), { interval })),
  ...named(
    'trend, display',
    [
      'ActionsLineGraphCumulative',
      'BoldNumber',
      'ActionsPie',
      'ActionsBarValue',
      'ActionsTable',
      'WorldMap',
      'Metric',
      'TwoDimensionalHeatmap',
      'SlopeGraph',
    ],
    (display) => trend(visits('dau'), shown(display)),
  ),
  ...named('heat map, math', ['total', 'dau', 'unique_session'], (math) => trend(visits(math), shown('CalendarHeatmap'))),
  'heat map by the start of sessions': trend(visits('dau'), {
    ...shown('CalendarHeatmap'),
    calendarHeatmapFilter: { bucketBySessionStart: true },
  }),
  'heat map, compared': trend(visits('dau'), { ...shown('CalendarHeatmap'), ...comparedWithDays }),
  'box plot': trend(visits('total', ofAmount), shown('BoxPlot')),
  'box plot, compared': trend(visits('total', ofAmount), { ...shown('BoxPlot'), ...comparedWithDays }),

  'trend by a property': trend(visits('dau'), by('plan', 'event')),
  'trend by a property of persons': trend(visits('dau'), by('vip', 'person')),
  'trend by a property of groups': trend(visits('dau'), by('size', 'group', { breakdown_group_type_index: 0 })),
  'trend by a property of sessions': trend(visits('dau'), by('$entry_pathname', 'session')),
  'trend by the channel': trend(visits('total'), by('$channel_type', 'session')),
  'trend by an expression': trend(visits('dau'), by("if(toFloat(properties.amount) > 10, 'much', 'little')", 'hogql')),
  'trend by an expression over persons': trend(visits('dau'), by('person.properties.vip', 'hogql')),
  'trend by an expression over events and persons': trend(
    visits('dau'),
    by("concat(properties.plan, ' ', toString(person.properties.vip))", 'hogql'),
  ),
  'trend by a field': trend(visits('dau'), by('distinct_id', 'event_metadata')),
  'trend by cohorts': trend(visits('dau'), by([cohort, 'all'], 'cohort')),
  'trend by two properties': trend(visits('dau'), {
    breakdownFilter: { breakdowns: [{ property: 'plan' }, { property: 'size', type: 'group', group_type_index: 0 }] },
  }),
  'trend by bins': trend(visits('dau'), by('amount', 'event', { breakdown_histogram_bin_count: 4 })),
  'trend by bins of persons': trend(visits('total'), by('age', 'person', { breakdown_histogram_bin_count: 3 })),
  'trend of sums by bins and a property': trend(visits('sum', ofAmount), {
    breakdownFilter: { breakdowns: [{ property: 'amount', histogram_bin_count: 3 }, { property: 'plan' }] },
  }),
  'trend by the length of sessions in bins': trend(
    visits('total'),
    by('$session_duration', 'session', { breakdown_histogram_bin_count: 3 }),
  ),
  'trend of first times by bins': trend(visits('first_time_for_user'), by('amount', 'event', { breakdown_histogram_bin_count: 4 })),

  'filter: persons': trend(visits('dau'), where(isVip)),
  'filter: a cohort': trend(visits('dau'), where(isIn(cohort))),
  'filter: groups': trend(visits('dau'), where(isLarge)),
  'filter: sessions': trend(visits('dau'), where(isLong)),
  'filter: an expression': trend(visits('dau'), where({ key: "properties.plan = 'pro' or event = 'buy'", type: 'hogql' })),
  'filter: events, persons or groups': trend(visits('dau'), { properties: { type: 'AND', values: [either] } }),
  'filter: an expression over events and persons': trend(
    visits('dau'),
    where({ key: "concat(properties.plan, person.properties.vip) = 'protrue'", type: 'hogql' }),
  ),
  'filter: what passes': trend(visits('dau'), where({ key: 'rand() < 2', type: 'hogql' })),
  'filter: a part of the query': trend(
    visits('dau'),
    where({ key: "distinct_id in (select distinct_id from events where event = 'buy')", type: 'hogql' }),
  ),
  'filter: companies by persons': trend(visits('unique_group', perCompany), where(isVip)),
  'filter: companies by their property': trend(visits('unique_group', perCompany), where(isLarge)),
  'filter: companies by a cohort': trend(visits('dau', perCompany), where(isIn(cohort))),
  'filter: companies by a property of persons, broken down by it': trend(visits('dau', perCompany), by('vip', 'person')),
  'filter: sessions by persons': trend(visits('unique_session'), where(isVip)),
  'sample of a trend': trend([visits('dau'), visits('sum', ofAmount)], sampled),
  'sample of first times': trend(visits('first_time_for_user'), sampled),
  'sample of the length of sessions': trend(visits('avg', { math_property: '$session_duration' }), sampled),

  ...named('funnel', ['ordered', 'strict', 'unordered'], (funnelOrderType) => funnelOf({ funnelOrderType })),
  ...named('funnel, view', ['time_to_convert', 'trends', 'flow'], (funnelVizType) => funnelOf({ funnelVizType })),
  ...named('funnel by a property, attributed to', ['first_touch', 'last_touch', 'all_events', 'step'], (breakdownAttributionType) =>
    funnelOf({ breakdownAttributionType }, by('plan', 'event')),
  ),
  'funnel by a property of persons': funnel(by('vip', 'person')),
  'funnel by a property of groups': funnel(by('size', 'group', { breakdown_group_type_index: 0 })),
  'funnel by a property of sessions': funnel(by('$entry_pathname', 'session')),
  'funnel by an expression': funnel(by('upper(properties.plan)', 'hogql')),
  'funnel by cohorts': funnel(by([cohort, 'all'], 'cohort')),
  'funnel with an exclusion': funnelOf({ exclusions: [{ kind: 'EventsNode', event: 'other', funnelFromStep: 0, funnelToStep: 1 }] }),
  'funnel with an optional step': funnel({ series: [visit, { ...signUp, optionalInFunnel: true }, buy] }),
  'funnel from a first time': funnel({ series: [{ ...visit, math: 'first_time_for_user' }, buy] }),
  'funnel, compared': funnel({ compareFilter: { compare: true } }),
  'funnel of companies': funnel(ofCompanies),
  'funnel of companies by persons': funnel({ ...ofCompanies, ...where(isVip) }),
  'funnel of companies by their property': funnel({ ...ofCompanies, ...where(isLarge) }),
  'funnel of an expression': funnelOf({ funnelAggregateByHogQL: 'properties.$session_id' }),
  'funnel with conditions on groups and sessions': funnel({
    series: [
      { ...visit, ...where(isLarge) },
      { ...buy, ...where(isLong) },
    ],
  }),
  'sample of a funnel': funnel(sampled),
  'sample of a strict funnel': funnelOf({ funnelOrderType: 'strict' }, sampled),
  'sample of a funnel from a first time': funnel({ series: [{ ...visit, math: 'first_time_for_user' }, buy], ...sampled }),
  'actors of a step': actors({ kind: 'FunnelsActorsQuery', funnelStep: 2, source: funnel() }),
  'actors of a step with their events': actors({ kind: 'FunnelsActorsQuery', funnelStep: 2, source: funnel(), includeRecordings: true }),
  'actors of a step with a value': actors({
    kind: 'FunnelsActorsQuery',
    funnelStep: 1,
    funnelStepBreakdown: 'pro',
    source: funnel(by('plan', 'event')),
  }),
  'companies of a step': actors({ kind: 'FunnelsActorsQuery', funnelStep: -2, source: funnel(ofCompanies) }),

  retention: retention(),
  'retention, first time': retention({ retentionType: 'retention_first_time' }),
  'retention, first ever': retention({ retentionType: 'retention_first_ever_occurrence' }),
  'retention, 24-hour windows': retention({ timeWindowMode: '24_hour_windows' }),
  'retention, cumulative': retention({ cumulative: true }),
  'retention, with brackets': retention({ retentionCustomBrackets: [1, 3] }),
  'retention, minimum': retention({ minimumOccurrences: 2 }),
  'retention, sums': retention({ aggregationType: 'sum', aggregationProperty: 'amount' }),
  'retention by a property': retention({}, by('plan', 'event')),
  'retention by a property of persons': retention({}, by('vip', 'person')),
  'retention by a property of groups': retention({}, by('size', 'group', { breakdown_group_type_index: 0 })),
  'retention by cohorts': retention({}, by([cohort, 'all'], 'cohort')),
  'retention of companies': retention({}, ofCompanies),
  'retention of companies by persons': retention({}, { ...ofCompanies, ...where(isVip) }),
  'sample of a retention': retention({}, sampled),
  'actors of a retention': behind(retention(), { interval: 1, day: 1 }),

  stickiness: stickiness(),
  'stickiness, cumulative': stickiness({ stickinessFilter: { computedAs: 'cumulative' } }),
  'stickiness of companies': stickiness(ofCompanies),
  'stickiness of companies by persons': stickiness({ ...ofCompanies, ...where(isVip) }),
  'stickiness of an expression': stickiness({ series: [visits('hogql', { math_hogql: 'properties.plan' })] }),
  'sample of a stickiness': stickiness(sampled),
  'actors of a stickiness': behind(stickiness(), { day: 2 }),

  lifecycle: lifecycle(),
  'lifecycle of companies': lifecycle(ofCompanies),
  'lifecycle with groups': lifecycle(where(isLarge)),
  'sample of a lifecycle': lifecycle(sampled),
  'actors of a lifecycle': behind(lifecycle(), { day, status: 'new' }),

  paths: paths({ includeEventTypes: ['custom_event'] }),
  'paths of pages': paths({ includeEventTypes: ['$pageview'] }),
  'paths between two points': paths({ includeEventTypes: ['custom_event'], startPoint: 'visit', endPoint: 'buy' }),
  'paths of companies by persons': paths({ includeEventTypes: ['custom_event'] }, { ...ofCompanies, ...where(isVip) }),
  'paths after a step': paths(
    {},
    { funnelPathsFilter: { funnelPathType: 'funnel_path_after_step', funnelStep: 1, funnelSource: funnel() } },
  ),
  'sample of paths': paths({ includeEventTypes: ['custom_event'] }, sampled),
  'actors of paths': counted(paths({ includeEventTypes: ['custom_event'] })),

  'actors of a trend': counted(trend(visits('dau')), { day }),
  'actors of all days of a trend': counted(trend(visits('total'))),
  'actors of weekly actives': counted(trend(visits('weekly_active')), { day }),
  'actors of first times': counted(trend(visits('first_time_for_user')), { day }),
  'actors of a running total': counted(trend(visits('dau'), shown('ActionsLineGraphCumulative')), { day }),
  'actors of a number': counted(trend(visits('dau'), shown('BoldNumber'))),
  'actors of sums': counted(trend(visits('sum', ofAmount)), { day }),
  'actors of sessions': counted(trend(visits('unique_session')), { day }),
  'actors of an expression': counted(trend(visits('hogql', { math_hogql: 'sum(properties.amount)' })), { day }),
  'actors of a value': counted(trend(visits('dau'), by('plan', 'event')), { day, breakdown: 'pro' }),
  'actors of no value': counted(trend(visits('dau'), by('plan', 'event')), { day, breakdown: '$$_posthog_breakdown_null_$$' }),
  'actors of the other values': counted(trend(visits('dau'), by('plan', 'event', { breakdown_limit: 1 })), {
    breakdown: '$$_posthog_breakdown_other_$$',
  }),
  'actors of a value of persons': counted(trend(visits('dau'), by('vip', 'person')), { day, breakdown: 'true' }),
  'actors of a bin': counted(trend(visits('dau'), by('amount', 'event', { breakdown_histogram_bin_count: 4 })), { breakdown: '[0,6.18]' }),
  'actors of a cohort': counted(trend(visits('dau'), by([cohort, 'all'], 'cohort')), { day, breakdown: cohort }),
  'actors of the period before': counted(trend(visits('dau'), { compareFilter: { compare: true } }), { compare: 'previous' }),
  'companies of a trend': counted(trend(visits('unique_group', perCompany)), { day }),
  'actors of a box': counted(trend(visits('total', ofAmount), shown('BoxPlot')), { day }),
  'actors of an hour of the week': counted(trend(visits('dau'), shown('CalendarHeatmap')), { row: 3, column: 7 }),
  'actors of a sample': counted(trend(visits('dau'), sampled), { day }),

  'web overview': { kind: 'WebOverviewQuery', dateRange, properties: [] },
  'web overview, compared': { kind: 'WebOverviewQuery', dateRange, properties: [], compareFilter: { compare: true } },
  'web overview, filtered': { kind: 'WebOverviewQuery', dateRange, properties: [{ ...isPro, operator: 'exact' }] },
  'web overview with a goal': { kind: 'WebOverviewQuery', dateRange, properties: [], conversionGoal: { customEventName: 'buy' } },
  'web overview of a sample': { kind: 'WebOverviewQuery', dateRange, properties: [], samplingFactor: 0.5 },
  'web overview of nothing': { kind: 'WebOverviewQuery', dateRange: { date_from: '2020-01-01', date_to: '2020-01-02' }, properties: [] },
  'web overview of short sessions': { kind: 'WebOverviewQuery', dateRange, properties: [{ ...isLong, operator: 'lt' }] },
  'web overview of persons, compared with a goal': {
    kind: 'WebOverviewQuery',
    dateRange: { date_from: '2026-03-06', date_to: '2026-03-08' },
    properties: [isVip],
    compareFilter: { compare: true },
    conversionGoal: { customEventName: 'buy' },
  },
  ...named('web table', ['Page', 'InitialPage', 'InitialChannelType', 'Browser'], (breakdownBy) => ({
    kind: 'WebStatsTableQuery',
    breakdownBy,
    dateRange,
    properties: [],
  })),
})

/** The same numbers in every run. */
export function drawing(seed: number): (most: number) => number {
  let drawn = seed
  return (most) => {
    drawn = (drawn * 48271) % 2147483647
    return drawn % most
  }
}

const sessionId = (number: number) => `0195${String(number).padStart(4, '0')}-0000-7000-8000-000000000000`

/** One more round of what happens to a project: events in any order of time, identified and merged persons, groups that change. */
export async function happen(project: LocalProject, round: number): Promise<void> {
  const draw = drawing(7 + round)
  const batch: object[] = Array.from({ length: 60 }, (_, i) => {
    const session = draw(12)
    return {
      event: ['visit', 'visit', 'sign up', 'buy', 'other', '$pageview'][draw(6)]!,
      distinct_id: `${draw(2) ? 'known' : 'anonymous'}-${draw(12)}`,
      uuid: `00000000-0000-4000-8000-${String(round * 1000 + i).padStart(12, '0')}`,
      timestamp: new Date(Date.UTC(2026, 2, 1 + draw(9), draw(24), draw(60))).toISOString(),
      properties: {
        ...(draw(4) ? { plan: ['free', 'pro', 'team'][draw(3)]! } : {}),
        ...(draw(4) ? { amount: draw(9) ? draw(100) / 4 : ['10', 'x1', true][draw(3)] } : {}),
        ...(draw(3) ? { $groups: { company: `company ${draw(5)}` } } : {}),
        ...(draw(3) ? { $session_id: session === 0 ? 'not an id of a session' : sessionId(session) } : {}),
        ...(draw(3)
          ? { $current_url: `https://example.com/${['', 'prices', 'docs'][draw(3)]}`, $pathname: `/${['', 'prices', 'docs'][draw(3)]}` }
          : {}),
        ...(draw(5) ? {} : { utm_source: 'google', $browser: 'Firefox' }),
        ...(draw(3) ? {} : { $set: { vip: draw(2) === 1, age: 20 + draw(40) } }),
      },
    }
  })
  const [id, anonymous, company] = [draw(12), draw(12), draw(4)] // of company 4 nothing is known
  batch.push({ event: '$identify', distinct_id: `known-${id}`, properties: { $anon_distinct_id: `anonymous-${anonymous}` } })
  batch.push({
    event: '$groupidentify',
    distinct_id: 'known-1',
    properties: { $group_type: 'company', $group_key: `company ${company}`, $group_set: { size: draw(30) } },
  })
  await project.ingest({ batch } as never)
  const [person, other] = [draw(12), draw(12)].map((number) => personUuid(1, `known-${number}`)) as [string, string]
  if (round % 3 === 1) await project.changePersons([{ change: 'merge', person, sources: [other] }])
  if (round % 3 === 2) await project.changePersons([{ change: 'delete', person, withEvents: true }])
}

/** Projects with the same contents, and what to ask of them. */
export function worlds() {
  const opened: LocalWaymark[] = []
  return {
    async open(options: Partial<OpenOptions> = {}): Promise<{ project: LocalProject; shapes: ReturnType<typeof shapesOf> }> {
      const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 2, ...options })
      opened.push(waymark)
      const project = await waymark.createProject()
      await happen(project, 0)
      const { id: cohort } = await project.createCohort({
        name: 'Some',
        is_static: true,
        distinct_ids: Array.from({ length: 6 }, (_, i) => `known-${2 * i}`),
      })
      const { id: action } = await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }, { event: 'sign up' }] })
      return { project, shapes: shapesOf({ cohort, action }) }
    },
    async close(): Promise<void> {
      for (const waymark of opened) await waymark.close()
    },
  }
}

export interface Explained {
  readonly results: unknown
  readonly boxplot_data?: unknown
  readonly explain: readonly { readonly road?: string; readonly reason?: string }[]
}
export const ask = async (project: LocalProject, query: object) => (await project.answer({ ...query, explain: true })) as Explained
export const roadsOf = ({ explain }: Explained) => {
  const roads = new Set(explain.flatMap(({ road, reason }) => (road ? [reason ? `${road}: ${reason}` : road] : [])))
  return roads.size === 0 ? 'sql' : [...roads].join('; ')
}
/** Sums of floating point numbers depend on the order. */
export const resultsOf = ({ results, boxplot_data }: Explained) =>
  JSON.parse(JSON.stringify([results, boxplot_data ?? null]), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(12)) : value,
  ) as unknown
