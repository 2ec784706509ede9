import * as z from 'zod'
import { fields } from '../fields.ts'
import { compareFilterSchema, dateRangeSchema, everyQuery } from '../schemas.ts'
import { filtersSchema, groupTypeIndex } from '../series/series.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

const mostSteps = 100
const mostEdges = 10_000
const mostRules = 100

const rules = <T extends z.ZodType>(rule: T) => nullish(z.array(rule).max(mostRules))
const texts = nullish(z.array(z.string()).max(1000))

const funnelPathTypes = ['funnel_path_before_step', 'funnel_path_between_steps', 'funnel_path_after_step'] as const

const pathsFilterSchema = fields(
  {
    /** `$pageview`, `$screen`, `custom_event`, `hogql`, or the name of an event. */
    includeEventTypes: texts,
    /** The item of an event, if `hogql` is included. */
    pathsHogQLExpression: nullish(z.string()),
    startPoint: nullish(z.string()),
    endPoint: nullish(z.string()),
    /** Items or names of events. */
    excludeEvents: texts,
    /** Items that match become one item; `*` stands for any text. */
    pathGroupings: rules(z.string()),
    /** Applies the path cleaning rules of the project. */
    pathReplacements: nullish(z.boolean()),
    localPathCleaningFilters: rules(
      fields({ regex: nullish(z.string()), alias: nullish(z.string()), order: nullish(z.number()) }, 'range'),
    ),
    stepLimit: nullish(z.number().int().min(1).max(mostSteps)),
    edgeLimit: nullish(z.number().int().min(1).max(mostEdges)),
    minEdgeWeight: nullish(z.number().min(0)),
    maxEdgeWeight: nullish(z.number().min(0)),
    /** Keys such as `2_/home`; they select actors. */
    pathStartKey: nullish(z.string()),
    pathEndKey: nullish(z.string()),
    pathDropoffKey: nullish(z.string()),
  },
  'pathsFilter',
)

const funnelPathsFilterSchema = fields(
  {
    funnelPathType: z.enum(funnelPathTypes),
    funnelSource: z.looseObject({ kind: z.literal('FunnelsQuery') }),
    /** As in FunnelsActorsQuery: 1 is the first step, -2 are those who did not get to the second one. */
    funnelStep: nullish(z.number().int()),
  },
  'range',
)

export const pathsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('PathsQuery'),
    pathsFilter: nullish(pathsFilterSchema),
    funnelPathsFilter: nullish(funnelPathsFilterSchema),
    dateRange: nullish(dateRangeSchema),
    compareFilter: nullish(compareFilterSchema),
    properties: nullish(filtersSchema),
    filterTestAccounts: nullish(z.boolean()),
    samplingFactor: nullish(z.number().gt(0).lte(1)),
    aggregation_group_type_index: nullish(groupTypeIndex),
  },
  'query',
)

export type PathsQuery = z.infer<typeof pathsSchema>
export type PathsFilter = z.infer<typeof pathsFilterSchema>
export type FunnelPathsFilter = z.infer<typeof funnelPathsFilterSchema>
