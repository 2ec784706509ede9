import * as z from 'zod'
import { unknownField } from '../errors/unknown-field.ts'

// Objects of a request reject unknown fields: a misspelled field would silently change the question.

/**
 * PostHog fields that do not affect the results: how a chart looks, what a client stores with a query, and hints to PostHog's servers.
 * They are accepted and ignored. `customAggregationTarget` belongs to tables of a data warehouse, which are refused themselves.
 */
export const presentation = {
  query: ['version', 'tags', 'response', 'dataColorTheme', 'name', 'description', 'full', 'showHeader', 'embedded'],
  node: ['version', 'response', 'limit', 'orderBy', 'order', 'uuid', 'dataColorTheme'],
  range: [],
  filter: ['label', 'cohort_name', 'group_key_names', 'bytecode', 'conditionHash', 'id', 'uuid'],
  condition: ['id', 'label', 'bytecode', 'bytecode_error', 'conditionHash', 'cohort_name', 'sort_key', 'uuid'],
  step: ['id', 'isNew', 'name', 'uuid'],
  trendsFilter: [
    'aggregationAxisFormat',
    'aggregationAxisPostfix',
    'aggregationAxisPrefix',
    'confidenceLevel',
    'decimalPlaces',
    'detailedResultsAggregationType',
    'excludeBoxPlotOutliers',
    'goalLines',
    'hiddenLegendIndexes',
    'hidden_legend_indexes',
    'hideWeekends',
    'legendPosition',
    'metricChangeDecreaseColor',
    'metricChangeIncreaseColor',
    'metricColorByDirection',
    'metricLineDecreaseColor',
    'metricLineIncreaseColor',
    'metricShowChange',
    'metricSummary',
    'minDecimalPlaces',
    'movingAverageIntervals',
    'resultCustomizationBy',
    'resultCustomizations',
    'showAlertThresholdLines',
    'showAnnotations',
    'showConfidenceIntervals',
    'showLabelsOnSeries',
    'showLegend',
    'showMovingAverage',
    'showMultipleYAxes',
    'showPercentStackView',
    'showTrendLines',
    'showValuesOnSeries',
    'stackBreakdownValues',
    'xAxisLabel',
    'yAxisLabel',
    'yAxisScaleType',
  ],
  funnelsFilter: [
    'breakdownSorting',
    'customAggregationTarget',
    'goalLines',
    'hiddenLegendBreakdowns',
    'funnelStepReference',
    'layout',
    'legendPosition',
    'resultCustomizations',
    'showAnnotations',
    'showLegend',
    'showTrendLines',
    'showValuesOnSeries',
    'useUdf',
  ],
  entity: ['aggregation_target_field', 'custom_name', 'kind', 'name', 'order', 'table_name', 'timestamp_field', 'uuid'],
  retentionFilter: [
    'cohortLabelStartIndex',
    'customAggregationTarget',
    'dashboardDisplay',
    'display',
    'goalLines',
    'selectedInterval',
    'showTrendLines',
  ],
  stickinessFilter: [
    'display',
    'hiddenLegendIndexes',
    'legendPosition',
    'resultCustomizationBy',
    'resultCustomizations',
    'showLegend',
    'showMultipleYAxes',
    'showValuesOnSeries',
  ],
  pathsFilter: ['showFullUrls'],
  lifecycleFilter: ['legendPosition', 'showLegend', 'showValuesOnSeries', 'stacked'],
  modifiers: [
    'dataWarehouseEventsModifiers',
    'debug',
    'formatCsvAllowDoubleQuotes',
    'forceClickhouseDataSkippingIndexes',
    'inCohortVia',
    'inlineCohortCalculation',
    'materializationMode',
    'materializedColumnsOptimizationMode',
    'optimizeJoinedFilters',
    'optimizeProjections',
    'personsArgMaxVersion',
    'personsJoinMode',
    'personsOnEventsMode',
    'propertyGroupsMode',
    's3TableUseInvalidColumns',
    'sessionTableVersion',
    'sessionsV2JoinMode',
    'timings',
    'useMaterializedViews',
    'usePreaggregatedIntermediateResults',
    'usePreaggregatedTableTransforms',
    'usePresortedEventsTable',
    'useWebAnalyticsPreAggregatedTables',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** PostHog fields that would change the answer and are not supported, each with the values that leave it as it is. */
const unanswered = {
  query: { connectionId: [null], sendRawQuery: [null, false] },
  modifiers: { bounceRatePageViewMode: [null] },
  /** Parts of a point that only points of other charts have. */
  point: { breakdown: [null], compare: [null, 'current'], day: [null], interval: [null], series: [null, 0], status: [null] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Harmless>>>>
type Harmless = readonly [null, ...(string | number | boolean)[]]

type Presented = keyof typeof presentation
type Unanswered = keyof typeof unanswered
type Ignored<P extends Presented> = { [K in (typeof presentation)[P][number]]: z.ZodOptional<z.ZodUnknown> }

/** An object with these fields and no others. */
export function fields<S extends z.ZodRawShape, P extends Presented>(shape: S, presented: P, missing: readonly Unanswered[] = []) {
  const ignored = Object.fromEntries(presentation[presented].map((name) => [name, z.unknown().optional()])) as Ignored<P>
  const absent = Object.fromEntries(
    missing.flatMap((list) => Object.entries<Harmless>(unanswered[list])).map(([name, values]) => [name, notAnswered(name, values)]),
  )
  const known = Object.keys(shape)
  return z.strictObject(
    { ...(absent as Record<never, never>), ...ignored, ...shape },
    { error: (issue) => (issue.code === 'unrecognized_keys' ? unknownField(issue.keys[0]!, known) : undefined) },
  )
}

const notAnswered = (name: string, values: Harmless) =>
  z.literal(values, { error: `${name} is not supported here: leave it out.` }).optional()
