import type { FieldsByKind, Query } from './query-types.ts'

type WrapperName = 'DataTableNode' | 'DataVisualizationNode' | 'InsightVizNode' | 'WebVitalsQuery'

/** A small query of each kind, for the description of the API. */
export const queryExamples: { readonly [K in Exclude<keyof FieldsByKind, WrapperName>]: Query<K> } = {
  SqlLikeQuery: { kind: 'SqlLikeQuery', query: 'select event from events limit 3' },
  HogQLQuery: { kind: 'HogQLQuery', query: 'select event from events limit 3' },
  TrendsQuery: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '-7d' } },
  FunnelsQuery: {
    kind: 'FunnelsQuery',
    series: [
      { kind: 'EventsNode', event: '$pageview' },
      { kind: 'EventsNode', event: 'purchase' },
    ],
    dateRange: { date_from: '-30d' },
  },
  LifecycleQuery: { kind: 'LifecycleQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '-7d' } },
  StickinessQuery: { kind: 'StickinessQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '-7d' } },
  RetentionQuery: { kind: 'RetentionQuery', retentionFilter: { totalIntervals: 7 } },
  FunnelCorrelationQuery: {
    kind: 'FunnelCorrelationQuery',
    source: {
      kind: 'FunnelsActorsQuery',
      source: {
        kind: 'FunnelsQuery',
        series: [
          { kind: 'EventsNode', event: '$pageview' },
          { kind: 'EventsNode', event: 'purchase' },
        ],
        dateRange: { date_from: '-30d' },
      },
    },
    funnelCorrelationType: 'events',
  },
  PathsQuery: { kind: 'PathsQuery', dateRange: { date_from: '-7d' } },
  WebOverviewQuery: { kind: 'WebOverviewQuery', dateRange: { date_from: '-7d' } },
  WebStatsTableQuery: { kind: 'WebStatsTableQuery', breakdownBy: 'Page', includeScrollDepth: true, dateRange: { date_from: '-7d' } },
  WebGoalsQuery: { kind: 'WebGoalsQuery', dateRange: { date_from: '-7d' } },
  WebExternalClicksTableQuery: { kind: 'WebExternalClicksTableQuery', dateRange: { date_from: '-7d' } },
  WebVitalsPathBreakdownQuery: { kind: 'WebVitalsPathBreakdownQuery', metric: 'LCP', percentile: 'p75', thresholds: [2500, 4000] },
  WebPageURLSearchQuery: { kind: 'WebPageURLSearchQuery', searchTerm: 'a' },
  HogQLMetadata: { kind: 'HogQLMetadata', language: 'hogQL', query: 'select event from events' },
  HogQLAutocomplete: { kind: 'HogQLAutocomplete', language: 'hogQL', query: 'select  from events', startPosition: 7, endPosition: 7 },
  DatabaseSchemaQuery: { kind: 'DatabaseSchemaQuery' },
  TeamTaxonomyQuery: { kind: 'TeamTaxonomyQuery' },
  EventTaxonomyQuery: { kind: 'EventTaxonomyQuery', event: '$pageview' },
  ActorsPropertyTaxonomyQuery: { kind: 'ActorsPropertyTaxonomyQuery', properties: ['email'] },
  CalendarHeatmapQuery: {
    kind: 'CalendarHeatmapQuery',
    series: [{ kind: 'EventsNode', event: '$pageview' }],
    dateRange: { date_from: '-30d' },
  },
  GroupsQuery: { kind: 'GroupsQuery', group_type_index: 0, select: ['group_name', 'key', 'created_at'] },
  SessionsQuery: { kind: 'SessionsQuery', select: ['session_id', '$start_timestamp', '$entry_current_url'], after: '-30d' },
  SessionsTimelineQuery: { kind: 'SessionsTimelineQuery', after: '-30d' },
  EventsQuery: { kind: 'EventsQuery', select: ['event', 'timestamp'], after: '-30d' },
  ActorsQuery: { kind: 'ActorsQuery', select: ['actor'] },
  InsightActorsQueryOptions: {
    kind: 'InsightActorsQueryOptions',
    source: { kind: 'InsightActorsQuery', source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }] } },
  },
  ViewerQuery: {
    kind: 'ViewerQuery',
    filter: [{ type: 'event', key: 'customer', operator: 'exact', value: 'acme' }],
    source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '-7d' } },
  },
}
