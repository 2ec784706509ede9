// Overrides of a request: the filters of a dashboard, and values of variables.

type Query = Readonly<Record<string, unknown>> & { readonly kind: string }
type Fields = Readonly<Record<string, unknown>>

const charts = ['TrendsQuery', 'FunnelsQuery', 'LifecycleQuery', 'RetentionQuery', 'StickinessQuery', 'PathsQuery']
const ofSites = ['WebOverviewQuery', 'WebStatsTableQuery', 'WebGoalsQuery', 'WebExternalClicksTableQuery', 'WebVitalsPathBreakdownQuery']
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
    const over = filters as Fields
    if (insights.has(query.kind)) laid = { ...laid, ...narrowed(laid, over) }
    else if (statements.has(query.kind)) laid = { ...laid, filters: narrowed(isGroup(laid.filters) ? laid.filters : {}, over) }
    else return 'filters_override'
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
