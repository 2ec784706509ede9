import * as z from 'zod'
import { fields } from '../fields.ts'
import { breakdownFilterSchema, compareFilterSchema, dateRangeSchema, everyQuery } from '../schemas.ts'
import { filtersSchema, groupTypeIndex } from '../series/series.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

const periods = ['Hour', 'Day', 'Week', 'Month'] as const
export type RetentionPeriod = (typeof periods)[number]
const retentionTypes = ['retention_recurring', 'retention_first_time', 'retention_first_ever_occurrence'] as const
const timeWindowModes = ['strict_calendar_dates', '24_hour_windows'] as const

/** Values in a row. */
const mostIntervals = 1000

const entitySchema = fields(
  {
    id: nullish(z.union([z.string(), z.number()], { error: 'An entity must be the name of an event, or the id of an action.' })),
    type: nullish(z.enum(['events', 'actions'])),
    properties: nullish(filtersSchema),
  },
  'entity',
).superRefine(({ id, type }, context) => {
  if (type === 'actions' && !Number.isInteger(Number(id ?? Number.NaN)))
    context.addIssue({ code: 'custom', message: 'An action is identified by its numeric id.', path: ['id'] })
})

const bracket = z.number().int().min(1)

const filterSchema = fields(
  {
    targetEntity: nullish(entitySchema),
    returningEntity: nullish(entitySchema),
    period: nullish(z.enum(periods)),
    totalIntervals: nullish(z.number().int().min(1).max(mostIntervals)),
    retentionType: nullish(z.enum(retentionTypes)),
    retentionReference: nullish(z.enum(['total', 'previous'])),
    meanRetentionCalculation: nullish(z.enum(['simple', 'weighted', 'none'])),
    cumulative: nullish(z.boolean()),
    minimumOccurrences: nullish(z.number().int().min(1)),
    timeWindowMode: nullish(z.enum(timeWindowModes)),
    retentionCustomBrackets: nullish(z.array(bracket).max(mostIntervals)),
    aggregationType: nullish(z.enum(['count', 'sum', 'avg'])),
    aggregationProperty: nullish(z.string()),
    aggregationPropertyType: nullish(z.enum(['event', 'person'])),
  },
  'retentionFilter',
).superRefine((filter, context) => {
  const wrong = (message: string, path: keyof typeof filter & string) => context.addIssue({ code: 'custom', message, path: [path] })
  const hasWindows = filter.timeWindowMode === '24_hour_windows'
  const sums = filter.aggregationType === 'sum' || filter.aggregationType === 'avg'
  if (hasWindows && filter.cumulative) wrong('cumulative is not supported with 24_hour_windows.', 'cumulative')
  if (hasWindows && sums) wrong(`The aggregation ${filter.aggregationType} is not supported with 24_hour_windows.`, 'aggregationType')
  if (sums && filter.cumulative) wrong(`cumulative is not supported with the aggregation ${filter.aggregationType}.`, 'cumulative')
  if (sums && !filter.aggregationProperty) wrong(`The aggregation ${filter.aggregationType} needs a property.`, 'aggregationProperty')
  if (sums && (filter.minimumOccurrences ?? 1) > 1)
    wrong(`minimumOccurrences is not supported with the aggregation ${filter.aggregationType}.`, 'minimumOccurrences')
  if ((filter.retentionCustomBrackets ?? []).reduce((sum, size) => sum + size, 0) > mostIntervals)
    wrong(`Brackets cover at most ${mostIntervals} intervals.`, 'retentionCustomBrackets')
})

export const retentionSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('RetentionQuery'),
    retentionFilter: nullish(filterSchema),
    dateRange: nullish(dateRangeSchema),
    compareFilter: nullish(compareFilterSchema),
    breakdownFilter: nullish(breakdownFilterSchema),
    properties: nullish(filtersSchema),
    filterTestAccounts: nullish(z.boolean()),
    samplingFactor: nullish(z.number().gt(0).lte(1)),
    aggregation_group_type_index: nullish(groupTypeIndex),
  },
  'query',
).superRefine(({ breakdownFilter }, context) => {
  const wrong = (...path: (string | number)[]) =>
    context.addIssue({
      code: 'custom',
      message: 'Histograms are not supported in a retention: leave the bin count out.',
      path: ['breakdownFilter', ...path],
    })
  if (breakdownFilter?.breakdown_histogram_bin_count != null) wrong('breakdown_histogram_bin_count')
  for (const [i, { histogram_bin_count: bins }] of (breakdownFilter?.breakdowns ?? []).entries())
    if (bins != null) wrong('breakdowns', i, 'histogram_bin_count')
})

export type RetentionQuery = z.infer<typeof retentionSchema>
export type RetentionFilter = NonNullable<RetentionQuery['retentionFilter']>
export type RetentionEntity = z.infer<typeof entitySchema>
