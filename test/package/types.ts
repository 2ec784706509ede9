import {
  createHandler,
  type FunnelCorrelationResponse,
  type FunnelsResponse,
  type HogQLMetadataResponse,
  type LifecycleResponse,
  open,
  type PathsResponse,
  type Query,
  QueryError,
  type QueryStatus,
  type RetentionResponse,
  type SqlResponse,
  type StickinessResponse,
  type TrendsResponse,
  toNodeHandler,
  WaymarkError,
  type WebOverviewResponse,
  type WebTableResponse,
} from 'waymark'

// What compiles and what does not, for those who call the library. It is only compiled, never run: here against the sources, in `npm run test:package`
// against the published types under both ways of resolving modules.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T | undefined => undefined

export async function calls(): Promise<void> {
  const waymark = await open({ dataDir: ':memory:' })
  // @ts-expect-error a misspelled option
  await open({ dataDir: ':memory:', memoryLimt: 1 })
  const project = await waymark.createProject({ name: 'Shop', timezone: 'Europe/Berlin', week_start_day: 1 })
  // @ts-expect-error a misspelled field of a project
  await waymark.createProject({ nmae: 'Shop' })
  await waymark.findOrCreateProject({ name: 'Shop' })
  await waymark.project('Shop')
  const [first] = await waymark.projects()
  const token: string | undefined = first?.token ?? project.token
  const { key } = await waymark.createPersonalKey({ label: 'CI', scopes: ['query:read', '*'] })
  // @ts-expect-error no such scope
  await waymark.createPersonalKey({ label: 'CI', scopes: ['query:reed'] })
  createHandler(waymark)
  toNodeHandler(waymark, { at: '/analytics' })
  // @ts-expect-error what is internal is not published, or not for callers
  project.answer satisfies undefined

  await project.ingest({
    batch: [{ event: 'signup', distinct_id: 'u1', timestamp: new Date(), properties: { plan: 'pro' }, $set: { plan: 'pro' } }],
  })
  // @ts-expect-error an event has a distinct_id
  await project.ingest({ batch: [{ event: 'signup' }] })
  // @ts-expect-error a misspelled field of an event
  await project.ingest({ batch: [{ event: 'signup', distinct_id: 'u1', propertes: {} }] })
  await project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }])
  // @ts-expect-error no such type
  await project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Number' }])
  // @ts-expect-error a group's property needs the index of its group type
  await project.definePropertyTypes([{ type: 'group', name: 'price', property_type: 'Numeric' }])

  const trend = await project.query({
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'signup', math: 'dau', properties: [{ key: 'plan', operator: 'is_not', value: ['pro'] }] }],
    interval: 'week',
    trendsFilter: { display: 'ActionsBar', showLegend: true },
  })
  const total: number | undefined = trend.results[0]?.count
  holds<typeof trend extends TrendsResponse ? true : false>()
  holds<Same<typeof trend.results, TrendsResponse['results']>>()
  const series = [{ kind: 'EventsNode', event: 'a' }] as const
  // @ts-expect-error a misspelled kind
  await project.query({ kind: 'TrendQuery', series })
  // @ts-expect-error a misspelled field
  await project.query({ kind: 'TrendsQuery', series, intervall: 'day' })
  // @ts-expect-error no such interval
  await project.query({ kind: 'TrendsQuery', series, interval: 'days' })
  // @ts-expect-error a misspelled field of a series
  await project.query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a', maths: 'dau' }] })
  // @ts-expect-error no such math
  await project.query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a', math: 'uniques' }] })
  // @ts-expect-error a misspelled field of a filter
  await project.query({ kind: 'TrendsQuery', series, properties: [{ key: 'plan', val: 'pro' }] })
  // @ts-expect-error no such operator
  await project.query({ kind: 'TrendsQuery', series, properties: [{ key: 'plan', value: 'pro', operator: 'equals' }] })

  const funnel = await project.query({ kind: 'FunnelsQuery', series: [...series, ...series], funnelsFilter: { funnelOrderType: 'strict' } })
  holds<typeof funnel extends FunnelsResponse ? true : false>()
  const [step] = funnel.results
  const counts: readonly [number | undefined, string | null | undefined] = [step?.count, step?.name]
  const twoSteps = [...series, ...series]
  const flow = await project.query({
    kind: 'FunnelsQuery',
    series: twoSteps,
    funnelsFilter: { funnelVizType: 'flow' },
    breakdownFilter: null,
  })
  holds<Same<typeof flow.results, typeof funnel.results>>()
  const times = await project.query({
    kind: 'FunnelsQuery',
    series: twoSteps,
    funnelsFilter: { funnelVizType: 'time_to_convert', binCount: 3 },
  })
  const bins: readonly (readonly [number, number])[] = times.results.bins
  const rates = await project.query({ kind: 'FunnelsQuery', series: twoSteps, funnelsFilter: { funnelVizType: 'trends' }, interval: 'day' })
  const rate: number | undefined = rates.results[0]?.data[0]
  const split = await project.query({
    kind: 'FunnelsQuery',
    series: twoSteps,
    breakdownFilter: { breakdown: 'plan', breakdown_type: 'person' },
  })
  const ofValue: unknown = split.results[0]?.[0]?.breakdown_value
  const several = await project.query({
    kind: 'FunnelsQuery',
    series: twoSteps,
    breakdownFilter: { breakdowns: [{ property: 'plan', type: 'person' }, { property: '$browser' }] },
  })
  holds<Same<typeof several.results, typeof split.results>>()
  const rateOfValue = await project.query({
    kind: 'FunnelsQuery',
    series: twoSteps,
    funnelsFilter: { funnelVizType: 'trends' },
    breakdownFilter: { breakdown: 'plan' },
  })
  holds<Same<typeof rateOfValue.results, typeof rates.results>>()
  // What the type of the query leaves open, the type of the answer leaves open too.
  const given: Query<'FunnelsQuery'> = { kind: 'FunnelsQuery', series: twoSteps }
  const unknownView = await project.query(given)
  holds<Same<typeof unknownView.results, FunnelsResponse['results']>>()
  const perhaps = await project.query({ kind: 'FunnelsQuery', series: twoSteps, breakdownFilter: { breakdown_limit: 3 } })
  holds<Same<typeof perhaps.results, FunnelsResponse['results']>>()
  const later = await project.query({ kind: 'FunnelsQuery', series: twoSteps }, { refresh: 'async' })
  holds<QueryStatus extends typeof later ? true : false>()
  // @ts-expect-error a misspelled field of a funnel
  await project.query({ kind: 'FunnelsQuery', series: twoSteps, funelsFilter: {} })
  // @ts-expect-error a misspelled field of its filter
  await project.query({ kind: 'FunnelsQuery', series: twoSteps, funnelsFilter: { funnelViz: 'trends' } })
  // @ts-expect-error no such view
  await project.query({ kind: 'FunnelsQuery', series: twoSteps, funnelsFilter: { funnelVizType: 'pie' } })
  // @ts-expect-error a misspelled field of a breakdown
  await project.query({ kind: 'FunnelsQuery', series: twoSteps, breakdownFilter: { breakdown: 'plan', breakdownType: 'person' } })
  void [counts, bins, rate, ofValue]
  const lifecycle = await project.query({ kind: 'LifecycleQuery', series })
  holds<typeof lifecycle extends LifecycleResponse ? true : false>()
  const retention = await project.query({ kind: 'RetentionQuery', retentionFilter: { targetEntity: { id: 'a' }, period: 'Week' } })
  holds<typeof retention extends RetentionResponse ? true : false>()
  const stickiness = await project.query({ kind: 'StickinessQuery', series, stickinessFilter: { computedAs: 'cumulative' } })
  holds<typeof stickiness extends StickinessResponse ? true : false>()
  const paths = await project.query({
    kind: 'PathsQuery',
    pathsFilter: { startPoint: '/home', stepLimit: 3 },
    funnelPathsFilter: {
      funnelPathType: 'funnel_path_after_step',
      funnelSource: { kind: 'FunnelsQuery', series: [...series, ...series] },
      funnelStep: 1,
    },
  })
  holds<typeof paths extends PathsResponse ? true : false>()
  const correlation = await project.query({
    kind: 'FunnelCorrelationQuery',
    source: { kind: 'FunnelsActorsQuery', source: { kind: 'FunnelsQuery', series: [...series, ...series] } },
    funnelCorrelationType: 'events',
  })
  holds<typeof correlation extends FunnelCorrelationResponse ? true : false>()
  const site = await project.query({
    kind: 'WebOverviewQuery',
    conversionGoal: { customEventName: 'buy' },
    compareFilter: { compare: true },
  })
  holds<typeof site extends WebOverviewResponse ? true : false>()
  const table = await project.query({ kind: 'WebStatsTableQuery', breakdownBy: 'InitialChannelType', orderBy: ['Views', 'DESC'] })
  holds<typeof table extends WebTableResponse ? true : false>()
  // @ts-expect-error an unknown breakdown
  await project.query({ kind: 'WebStatsTableQuery', breakdownBy: 'Planet' })
  const checked = await project.query({ kind: 'HogQLMetadata', language: 'hogQL', query: 'select 1' })
  holds<typeof checked extends HogQLMetadataResponse ? true : false>()
  // @ts-expect-error a misspelled field of paths
  await project.query({ kind: 'PathsQuery', pathsFilter: { startpoint: '/home' } })
  const people = await project.query({
    kind: 'ActorsQuery',
    source: { kind: 'FunnelsActorsQuery', source: { kind: 'FunnelsQuery', series: [...series, ...series] }, funnelStep: -2 },
    select: ['person'],
  })
  const missing: number = people.missing_actors_count

  const rows = await project.query({ kind: 'SqlLikeQuery', query: 'select 1' })
  holds<typeof rows extends SqlResponse ? true : false>()
  const typed = await project.query<[event: string, count: number]>({
    kind: 'SqlLikeQuery',
    query: 'select event, count() from events group by event',
  })
  const [event, count] = typed.results[0]!
  holds<Same<[typeof event, typeof count], [string, number]>>()
  const name = "o'neill"
  const counted = await project.sql<[number]>`select count() from events where event = ${name} and timestamp > ${new Date()}`
  holds<Same<typeof counted.results, readonly [number][]>>()

  const kept = await project.query({ kind: 'TrendsQuery', series }, { refresh: 'async' })
  holds<QueryStatus extends typeof kept ? true : false>()
  const forced = await project.query({ kind: 'TrendsQuery', series }, { refresh: true })
  holds<QueryStatus extends typeof forced ? false : true>()
  // @ts-expect-error a misspelled option of a query
  await project.query({ kind: 'TrendsQuery', series }, { refrsh: true })

  const any: Query = JSON.parse('{}')
  const answer = await project.query(any)
  void [token, key, total, missing, answer.timings]
}

/** What a caught error is known to be. */
export function errors(error: unknown): void {
  if (error instanceof WaymarkError) {
    if (error.code === 'validation-failed') error.attr satisfies string | null
    // @ts-expect-error no such code
    if (error.code === 'typo') throw error
  }
  if (error instanceof QueryError) {
    error.position?.line satisfies number | undefined
    // @ts-expect-error no such code
    if (error.code === 'unknown-feild') throw error
  }
}
