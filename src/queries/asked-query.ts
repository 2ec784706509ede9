import { QueryError } from '../errors/errors.ts'
import { isObject } from '../lib/is-object.ts'
import { queryKinds } from './registry.ts'

// What a request asks, by its kind: one reading for the library, HTTP and the command line.

/** A query of a kind that is supported. */
export type AskedQuery = Readonly<Record<string, unknown>> & { readonly kind: string }

/** Kinds that PostHog clients may send and that are not supported. */
const kindsElsewhere = [
  'ActionsNode',
  'DataWarehouseNode',
  'ErrorTrackingQuery',
  'EventsNode',
  'ExperimentExposureQuery',
  'ExperimentFunnelsQuery',
  'ExperimentQuery',
  'ExperimentTrendsQuery',
  'FunnelCorrelationActorsQuery',
  'FunnelsActorsQuery',
  'HogQuery',
  'InsightActorsQuery',
  'LogsQuery',
  'MarketingAnalyticsTableQuery',
  'PersonsNode',
  'PropertyValuesQuery',
  'RecordingsQuery',
  'RevenueAnalyticsOverviewQuery',
  'SavedInsightNode',
  'SessionAttributionExplorerQuery',
  'StickinessActorsQuery',
  'SuggestedQuestionsQuery',
  'TimeToSeeDataJSONNode',
  'TimeToSeeDataQuery',
  'TimeToSeeDataSessionsQuery',
  'TimeToSeeDataWaterfallNode',
  'TraceQuery',
  'TracesQuery',
  'VectorSearchQuery',
  'WebTopClicksQuery',
]
const isElsewhere: ReadonlySet<string> = new Set(kindsElsewhere)

/** Visualization nodes around a `source`. Of web vitals the source is a trend. */
export const wrapperKinds = ['DataTableNode', 'DataVisualizationNode', 'InsightVizNode', 'WebVitalsQuery'] as const
const isWrapper: ReadonlySet<string> = new Set(wrapperKinds)
const maxWrappings = 3

/** All supported kinds. */
export const answeredKinds: readonly string[] = [...Object.keys(queryKinds), ...wrapperKinds].sort()

const misfit = (message: string, path: readonly string[]) =>
  new QueryError('validation-failed', { message, attr: path.join('__') || 'query', place: ['query', ...path] })

/** The query inside visualization nodes. */
export function queryAsked(given: unknown, path: readonly string[] = []): AskedQuery {
  const name = path.length === 0 ? 'A query' : path.join('.')
  if (!isObject(given)) {
    const statement =
      typeof given === 'string' ? 'a statement is { kind: "SqlLikeQuery", query: "…" }' : 'as in { kind: "HogQLQuery", query: "select 1" }'
    throw misfit(`${name} must be an object with a kind; ${statement}. Known kinds: ${answeredKinds.join(', ')}.`, path)
  }
  const { kind } = given
  if (typeof kind !== 'string') {
    throw misfit(`${name} needs a kind, as in { kind: "SqlLikeQuery", query: "select 1" }. Known kinds: ${answeredKinds.join(', ')}.`, [
      ...path,
      'kind',
    ])
  }
  if (isWrapper.has(kind)) {
    if (path.length >= maxWrappings)
      throw misfit(`A query can be wrapped in at most ${maxWrappings} visualization nodes.`, [...path, 'kind'])
    if (given.source === undefined) throw misfit(`${kind} needs a source: the query to show.`, [...path, 'source'])
    return queryAsked(given.source, [...path, 'source'])
  }
  if (Object.hasOwn(queryKinds, kind)) return given as AskedQuery
  const attr = [...path, 'kind'].join('__')
  if (isElsewhere.has(kind)) throw new QueryError('query-kind-elsewhere', { kind, known: answeredKinds }, null, { attr })
  throw new QueryError('unknown-query-kind', { kind, known: answeredKinds }, null, { attr })
}

/** As in `queryKinds`. */
export const kindOf = (query: AskedQuery) => queryKinds[query.kind]!
