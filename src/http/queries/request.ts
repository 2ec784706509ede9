import { z } from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { type Asked, longestQueryId } from '../../execution/asking/asking.ts'
import { refreshMode, refreshModes } from '../../execution/asking/refresh.ts'
import { likelyName } from '../../lib/likely-name.ts'
import { misfitOf } from '../../queries/fields.ts'
import { queryKinds } from '../../queries/registry.ts'
import { failures } from '../errors.ts'
import { withOverrides } from './overrides.ts'

// The body of the query endpoint. Unlike the record routes it is strict, and says what does not fit in the words its clients look for.

export type QueryRequest = Asked

export const queryRequestSchema = z.object({
  query: z.record(z.string(), z.unknown()).meta({ description: 'A query of one of the kinds, with its `kind`' }),
  async: z.boolean().nullish(),
  client_query_id: z
    .string()
    .max(longestQueryId, { error: `String should have at most ${longestQueryId} characters` })
    .nullish(),
  refresh: z.union([z.boolean(), z.enum(refreshModes)]).nullish(),
  filters_override: z
    .record(z.string(), z.unknown())
    .nullish()
    .meta({ description: '`date_from`, `date_to` and `properties` laid over an insight, or over `filters` of a statement' }),
  variables_override: z
    .record(z.string(), z.unknown())
    .nullish()
    .meta({ description: 'Variables of a statement by their ids, laid over its own' }),
  name: z.string().max(128).nullish(),
})
/** The query itself is checked by its kind. Making a schema costs more than using it. */
const restSchema = queryRequestSchema.omit({ query: true })
const known = new Set([...Object.keys(queryRequestSchema.shape), 'personal_api_key'])

/** Kinds that clients of the reference system may send and that are not answered here. */
const kindsElsewhere = [
  'ActionsNode',
  'ActorsPropertyTaxonomyQuery',
  'CalendarHeatmapQuery',
  'DataWarehouseNode',
  'DatabaseSchemaQuery',
  'ErrorTrackingQuery',
  'EventTaxonomyQuery',
  'EventsNode',
  'ExperimentExposureQuery',
  'ExperimentFunnelsQuery',
  'ExperimentQuery',
  'ExperimentTrendsQuery',
  'FunnelCorrelationActorsQuery',
  'FunnelCorrelationQuery',
  'FunnelsActorsQuery',
  'GroupsQuery',
  'HogQLAutocomplete',
  'HogQLMetadata',
  'HogQuery',
  'InsightActorsQuery',
  'LogsQuery',
  'MarketingAnalyticsTableQuery',
  'PathsQuery',
  'PersonsNode',
  'PropertyValuesQuery',
  'RecordingsQuery',
  'RetentionQuery',
  'RevenueAnalyticsOverviewQuery',
  'SavedInsightNode',
  'SessionAttributionExplorerQuery',
  'SessionsQuery',
  'SessionsTimelineQuery',
  'StickinessActorsQuery',
  'StickinessQuery',
  'SuggestedQuestionsQuery',
  'TeamTaxonomyQuery',
  'TimeToSeeDataJSONNode',
  'TimeToSeeDataQuery',
  'TimeToSeeDataSessionsQuery',
  'TimeToSeeDataWaterfallNode',
  'TraceQuery',
  'TracesQuery',
  'VectorSearchQuery',
  'WebExternalClicksTableQuery',
  'WebGoalsQuery',
  'WebOverviewQuery',
  'WebStatsTableQuery',
  'WebTopClicksQuery',
  'WebVitalsPathBreakdownQuery',
  'WebVitalsQuery',
]

/** Nodes that say how the answer of their `source` is shown. */
const wrappers: readonly string[] = ['DataTableNode', 'DataVisualizationNode', 'InsightVizNode']
const mostWrappings = 3
const answered = [...Object.keys(queryKinds), ...wrappers].sort()
const isElsewhere = new Set(kindsElsewhere)

/** `attr` is the field of the query that is to blame, as in the errors of the library. */
const misfit = (place: string, problem: string, attr: string | null = null) =>
  failures.parse(`1 validation error for QueryRequest\n${place}\n  ${problem}`, attr)

const queryOf = (given: unknown, place: string, wrappings = 0): QueryRequest['query'] => {
  if (given === undefined) throw misfit(place, 'Field required')
  if (given === null || typeof given !== 'object' || Array.isArray(given)) throw misfit(place, 'Input should be an object')
  const { kind, source } = given as Record<string, unknown>
  if (kind === undefined) throw misfit(place, "Unable to extract tag using discriminator 'kind'")
  if (typeof kind === 'string' && wrappers.includes(kind) && wrappings < mostWrappings)
    return queryOf(source, `${place}.${kind}.source`, wrappings + 1)
  if (typeof kind !== 'string' || !(answered.includes(kind) || isElsewhere.has(kind))) {
    const expected = answered.map((one) => `'${one}'`).join(', ')
    const likely = typeof kind === 'string' ? likelyName(kind, answered) : undefined
    const hint = likely === undefined ? '' : `. Did you mean '${likely}'?`
    const message = `Input tag '${String(kind)}' found using 'kind' does not match any of the expected tags: ${expected}${hint}`
    throw misfit(place, message, 'kind')
  }
  if (!Object.hasOwn(queryKinds, kind))
    throw new WaymarkError('query-kind-elsewhere', { kind, known: Object.keys(queryKinds) }, { attr: 'kind' })
  return given as QueryRequest['query']
}

export const readQueryRequest = (body: unknown): QueryRequest => {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw misfit('', 'Input should be an object')
  const strange = Object.keys(body).find((key) => !known.has(key))
  if (strange !== undefined) throw misfit(strange, 'Extra inputs are not permitted', strange)
  const { query: given, async: isAsync, client_query_id, refresh } = body as Record<string, unknown>
  const query = queryOf(given, 'query')
  const rest = restSchema.safeParse(body)
  if (!rest.success)
    throw misfit(rest.error.issues[0]!.path.join('.'), rest.error.issues[0]!.message, rest.error.issues[0]!.path.join('__') || null)
  const { filters_override: filters, variables_override: variables } = rest.data
  const laid = withOverrides(query, { filters, variables })
  if (typeof laid === 'string') throw misfit(laid, `A ${query.kind} has no place for it`)
  return {
    query: laid,
    refresh: refreshMode(refresh, isAsync === true),
    wantsStatus: isAsync === true,
    client_query_id: typeof client_query_id === 'string' && client_query_id !== '' ? client_query_id : null,
  }
}

/** A query that its kind's schema refuses is a body that cannot be read; other mistakes keep their own words. */
export const queryFailure = (error: unknown, kind: string): unknown => {
  if (!(error instanceof WaymarkError) || error.code !== 'validation-failed' || !(error.cause instanceof z.ZodError)) return error
  const { path, message } = misfitOf(error.cause)
  return misfit(['query', kind, ...path].join('.'), message, path.join('__') || null)
}
