// Overrides of a request: the filters of a dashboard, and values of variables.

type Query = Readonly<Record<string, unknown>> & { readonly kind: string }
type Fields = Readonly<Record<string, unknown>>

const charts = ['TrendsQuery', 'FunnelsQuery', 'LifecycleQuery', 'RetentionQuery', 'StickinessQuery', 'PathsQuery']
const ofSites = ['WebOverviewQuery', 'WebStatsTableQuery', 'WebGoalsQuery', 'WebExternalClicksTableQuery', 'WebVitalsPathBreakdownQuery']
/** Their numbers are by interval. */
const withIntervals = new Set(['TrendsQuery', 'FunnelsQuery', 'LifecycleQuery', 'StickinessQuery'])
const insights = new Set([...charts, ...ofSites])
const statements = new Set(['SqlLikeQuery', 'HogQLQuery'])

const isGroup = (value: unknown): value is Fields => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Both must hold. */
const both = (own: unknown, more: readonly unknown[] | Fields): unknown => {
  if (!isGroup(own) && !isGroup(more)) return [...(Array.isArray(own) ? own : []), ...(more as readonly unknown[])]
  const grouped = (given: unknown) => (isGroup(given) ? [given] : Array.isArray(given) ? [{ type: 'AND', values: given }] : [])
  return { type: 'AND', values: [...grouped(own), ...grouped(more)] }
}
const hasAny = (properties: unknown): properties is readonly unknown[] | Fields =>
  Array.isArray(properties) ? properties.length > 0 : isGroup(properties) && Object.keys(properties).length > 0

const narrowed = (fields: Fields, { date_from, date_to, properties }: Fields): Fields => ({
  ...fields,
  ...(date_from || date_to ? { dateRange: { date_from: date_from ?? null, date_to: date_to ?? null } } : {}),
  ...(hasAny(properties) ? { properties: both(fields.properties, properties) } : {}),
})

/** A list of events is bounded by instants: whole days become theirs, as in a chart. */
const firstInstant = (from: unknown): unknown => (typeof from === 'string' ? from.replace(/^-\d+d$/, '$&Start') : from)
function endInstant(to: unknown): unknown {
  if (typeof to !== 'string') return to
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(to) && !Number.isNaN(Date.parse(to))
  return isDay ? new Date(Date.parse(to) + 86_400_000).toISOString().slice(0, 10) : to.replace(/^-\d+d$/, '$&End')
}
const narrowedEvents = (fields: Query, { date_from, date_to, properties }: Fields): Query => ({
  ...fields,
  ...(date_from || date_to ? { after: firstInstant(date_from) ?? null, before: endInstant(date_to) ?? null } : {}),
  ...(hasAny(properties) ? { properties: both(fields.properties, properties) } : {}),
})

/** Null: this kind of query has no dates. */
function filtered(query: Query, over: Fields): Query | null {
  if (insights.has(query.kind)) {
    const interval = withIntervals.has(query.kind) && typeof over.interval === 'string' ? { interval: over.interval } : {}
    return { ...query, ...narrowed(query, over), ...interval }
  }
  if (statements.has(query.kind)) return { ...query, filters: narrowed(isGroup(query.filters) ? query.filters : {}, over) }
  if (query.kind === 'EventsQuery') return narrowedEvents(query, over)
  // Persons of a chart, or of one point of it.
  const source = isGroup(query.source) && typeof query.source.kind === 'string' ? filtered(query.source as Query, over) : null
  return source && { ...query, source }
}

const isEmpty = (given: unknown): boolean =>
  !isGroup(given) ||
  Object.values(given).every((value) => value === null || value === undefined || (Array.isArray(value) && value.length === 0))

export interface Overrides {
  readonly filters: unknown
  readonly variables: unknown
}

/** The query with the overrides; the name of an override that this kind of query does not support. */
export const withOverrides = (query: Query, { filters, variables }: Overrides): Query | 'filters_override' | 'variables_override' => {
  let laid = query
  if (!isEmpty(filters)) {
    const narrower = filtered(laid, filters as Fields)
    if (narrower === null) return 'filters_override'
    laid = narrower
  }
  if (!isEmpty(variables)) {
    if (!statements.has(query.kind)) return 'variables_override'
    const own = isGroup(laid.variables) ? laid.variables : {}
    const merged = Object.entries(variables as Fields).map(([id, value]) => [
      id,
      isGroup(value) ? { ...(own[id] as Fields), ...value } : value,
    ])
    laid = { ...laid, variables: { ...own, ...Object.fromEntries(merged) } }
  }
  return laid
}
