import * as z from 'zod'
import { maxSteps } from '../../core/kernels/funnels/columns.ts'
import { intervals } from '../../lib/time/calendar.ts'
import { fields } from '../fields.ts'
import { type BreakdownFilter, breakdownFilterSchema, compareFilterSchema, dateRangeSchema, everyQuery } from '../schemas.ts'
import { actionsNodeFields, eventsNodeFields, filtersSchema, groupTypeIndex, type SeriesNode, seriesNodeSchema } from '../series/series.ts'

export const windowUnits = ['second', 'minute', 'hour', 'day', 'week', 'month'] as const
const vizTypes = ['steps', 'time_to_convert', 'trends', 'flow'] as const
const orderTypes = ['ordered', 'strict', 'unordered'] as const
const attributionTypes = ['first_touch', 'last_touch', 'all_events', 'step'] as const

const stepIndex = z.number().int().min(0)
const exclusionFields = { funnelFromStep: stepIndex, funnelToStep: stepIndex }
const exclusionSchema = z.discriminatedUnion('kind', [
  fields({ ...eventsNodeFields, ...exclusionFields }, 'node'),
  fields({ ...actionsNodeFields, ...exclusionFields }, 'node'),
])

const funnelsFilterSchema = fields(
  {
    funnelVizType: z.enum(vizTypes).nullish(),
    funnelOrderType: z.enum(orderTypes).nullish(),
    funnelWindowInterval: z.number().positive().nullish(),
    funnelWindowIntervalUnit: z.enum(windowUnits).nullish(),
    exclusions: z.array(exclusionSchema).nullish(),
    breakdownAttributionType: z.enum(attributionTypes).nullish(),
    breakdownAttributionValue: stepIndex.nullish(),
    funnelFromStep: stepIndex.nullish(),
    funnelToStep: stepIndex.nullish(),
    funnelAggregateByHogQL: z.string().nullish(),
    binCount: z.union([z.number(), z.literal('auto')]).nullish(),
    hideIncompleteConversionWindowPeriods: z.boolean().nullish(),
  },
  'funnelsFilter',
)

export const funnelsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('FunnelsQuery'),
    series: z
      .array(seriesNodeSchema)
      .min(2, { error: 'A funnel needs at least two steps.' })
      .max(maxSteps, { error: `A funnel can have at most ${maxSteps} steps.` }),
    interval: z.enum(intervals).nullish(),
    dateRange: dateRangeSchema.nullish(),
    funnelsFilter: funnelsFilterSchema.nullish(),
    breakdownFilter: breakdownFilterSchema.nullish(),
    compareFilter: compareFilterSchema.nullish(),
    properties: filtersSchema.nullish(),
    filterTestAccounts: z.boolean().nullish(),
    samplingFactor: z.number().gt(0).lte(1).nullish(),
    aggregation_group_type_index: groupTypeIndex.nullish(),
  },
  'query',
).superRefine((query, context) => {
  const wrong = (message: string, ...path: (string | number)[]) => context.addIssue({ code: 'custom', message, path })
  checkSteps(query.series, query.funnelsFilter ?? {}, wrong)
  checkExclusions(query.series, query.funnelsFilter ?? {}, wrong)
  checkBreakdown(query.breakdownFilter ?? {}, wrong)
})

export type FunnelsQuery = z.infer<typeof funnelsSchema>
export type FunnelsFilter = z.infer<typeof funnelsFilterSchema>
export type Exclusion = z.infer<typeof exclusionSchema>
type Wrong = (message: string, ...path: (string | number)[]) => void

function checkBreakdown({ breakdown_histogram_bin_count: bins, breakdowns }: BreakdownFilter, wrong: Wrong): void {
  const noBins = 'Only time-to-convert funnels have bins: leave the number of bins out.'
  if (bins != null) wrong(noBins, 'breakdownFilter', 'breakdown_histogram_bin_count')
  for (const [i, item] of (breakdowns ?? []).entries())
    if (item.histogram_bin_count != null) wrong(noBins, 'breakdownFilter', 'breakdowns', i, 'histogram_bin_count')
}

function checkSteps(series: readonly SeriesNode[], filter: FunnelsFilter, wrong: Wrong): void {
  const last = series.length - 1
  const from = filter.funnelFromStep ?? 0
  const to = filter.funnelToStep ?? last
  if (from > last - 1)
    wrong(`There is no step to convert to after step ${from}; the last one is ${last}.`, 'funnelsFilter', 'funnelFromStep')
  else if (to > last) wrong(`There is no step ${to}; the last one is ${last}.`, 'funnelsFilter', 'funnelToStep')
  else if (to <= from) wrong('funnelToStep must be greater than funnelFromStep.', 'funnelsFilter', 'funnelToStep')

  const isUnordered = filter.funnelOrderType === 'unordered'
  if (filter.breakdownAttributionType === 'step') {
    const step = filter.breakdownAttributionValue ?? 0
    if (step > last)
      wrong(`There is no step ${step} to attribute to; the last one is ${last}.`, 'funnelsFilter', 'breakdownAttributionValue')
    if (isUnordered && step !== 0)
      wrong('An unordered funnel supports attribution to its first step only.', 'funnelsFilter', 'breakdownAttributionValue')
  }
  series.forEach((node, i) => {
    if (!node.optionalInFunnel) return
    if (i === 0) wrong('The first step cannot be optional.', 'series', i, 'optionalInFunnel')
    if (isUnordered) wrong('An unordered funnel cannot have optional steps.', 'series', i, 'optionalInFunnel')
    if (filter.funnelVizType === 'time_to_convert' || filter.funnelVizType === 'trends')
      wrong('Only the steps view supports optional steps.', 'series', i, 'optionalInFunnel')
    const next = series[i + 1]
    if (next && !next.optionalInFunnel && takes(next, node))
      wrong('An optional step cannot be the same as the required step after it.', 'series', i)
  })
}

function checkExclusions(series: readonly SeriesNode[], filter: FunnelsFilter, wrong: Wrong): void {
  const last = series.length - 1
  for (const [i, exclusion] of (filter.exclusions ?? []).entries()) {
    const base = ['funnelsFilter', 'exclusions', i] as const
    const { funnelFromStep: from, funnelToStep: to } = exclusion
    if (from >= to) wrong('An exclusion must end after the step where it begins.', ...base, 'funnelToStep')
    else if (from > last - 1) wrong(`An exclusion cannot begin at step ${from}; the last one is ${last}.`, ...base, 'funnelFromStep')
    else if (to > last) wrong(`An exclusion cannot end at step ${to}; the last one is ${last}.`, ...base, 'funnelToStep')
    else if (filter.funnelOrderType === 'unordered' && (from !== 0 || to !== last))
      wrong('In an unordered funnel an exclusion must span all steps.', ...base)
    else if (series.slice(from, to + 1).some((step) => takes(exclusion, step) || takes(step, exclusion)))
      wrong('An exclusion cannot be an event of a step that it spans.', ...base)
  }
}

/** The filters that must all match, each as a text; a group with an OR is one of them. */
function filterTexts(node: { readonly properties?: unknown; readonly fixedProperties?: unknown }): readonly string[] {
  const texts = (filters: unknown): readonly string[] => {
    if (Array.isArray(filters)) return filters.flatMap(texts)
    if (typeof filters !== 'object' || filters === null) return []
    const { type, values } = filters as { type?: unknown; values?: unknown }
    if (!Array.isArray(values)) return [JSON.stringify(filters)]
    return type === 'AND' || values.length < 2 ? texts(values) : [JSON.stringify(filters)]
  }
  return [node.properties, node.fixedProperties].flatMap(texts)
}

const identity = (node: SeriesNode | Exclusion): string =>
  node.kind === 'EventsNode'
    ? `event ${JSON.stringify(node.event ?? null)}`
    : node.kind === 'ActionsNode'
      ? `action ${node.id}`
      : JSON.stringify(node.nodes)

/** Every event that matches `b` matches `a`: same event, and `a` has no filters that `b` lacks. */
function takes(a: SeriesNode | Exclusion, b: SeriesNode | Exclusion): boolean {
  const isAnyExclusion = 'funnelFromStep' in a && a.kind === 'EventsNode' && a.event == null
  if (!isAnyExclusion && identity(a) !== identity(b)) return false
  const asked = new Set(filterTexts(b))
  return filterTexts(a).every((text) => asked.has(text))
}
