import * as z from 'zod'
import { intervals } from '../../lib/time/calendar.ts'
import { fields } from '../fields.ts'
import { dateRangeSchema, everyQuery } from '../schemas.ts'
import { filtersSchema, groupTypeIndex, seriesNodeSchema } from '../series/series.ts'

/** In the order of the rows. */
export const statuses = ['new', 'returning', 'resurrecting', 'dormant'] as const
export type Status = (typeof statuses)[number]

export const lifecycleSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('LifecycleQuery'),
    series: z.array(seriesNodeSchema).length(1, { error: 'A lifecycle query takes exactly one series.' }),
    interval: z.enum(intervals).nullish(),
    dateRange: dateRangeSchema.nullish(),
    lifecycleFilter: fields({ toggledLifecycles: z.array(z.enum(statuses)).nullish() }, 'lifecycleFilter').nullish(),
    properties: filtersSchema.nullish(),
    filterTestAccounts: z.boolean().nullish(),
    samplingFactor: z.number().gt(0).lte(1).nullish(),
    aggregation_group_type_index: groupTypeIndex.nullish(),
  },
  'query',
)
export type LifecycleQuery = z.infer<typeof lifecycleSchema>
