import * as z from 'zod'
import { intervals } from '../../lib/time/calendar.ts'
import { fields } from '../fields.ts'
import type { QueryContext, QueryKind, QueryRun } from '../kind.ts'
import { dateRangeSchema, everyQuery } from '../schemas.ts'
import { conversionGoalSchema } from '../series/conversion-goal.ts'
import { filtersSchema, seriesNodeSchema } from '../series/series.ts'
import type { ShownRanges } from '../time/comparison.ts'
import type { CalendarHeatmap } from './heatmap.ts'
import { trends } from './index.ts'
import { checkTrends, type TrendsQuery } from './schema.ts'

// Hours of the week as a query of its own: a trend of one series with this display.

const display = { trendsFilter: { display: 'CalendarHeatmap' } } as const

const calendarHeatmapSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('CalendarHeatmapQuery'),
    series: z.array(seriesNodeSchema).length(1, { error: 'A calendar heat map shows one series.' }),
    interval: z.enum(intervals).nullish(),
    dateRange: dateRangeSchema.nullish(),
    conversionGoal: conversionGoalSchema.nullish(),
    calendarHeatmapFilter: fields({ bucketBySessionStart: z.boolean().nullish() }, 'range').nullish(),
    properties: filtersSchema.nullish(),
    filterTestAccounts: z.boolean().nullish(),
    samplingFactor: z.number().gt(0).lte(1).nullish(),
  },
  'query',
).superRefine((query, context) => checkTrends({ ...query, ...display }, context))

export interface CalendarHeatmapAnswer extends ShownRanges {
  readonly results: CalendarHeatmap
  readonly hasMore: boolean
}

const nothing: CalendarHeatmap = { data: [], rowAggregations: [], columnAggregations: [], allAggregations: 0 }

function* run(query: z.output<typeof calendarHeatmapSchema>, env: QueryContext): QueryRun<CalendarHeatmapAnswer> {
  const asked: TrendsQuery = { ...query, kind: 'TrendsQuery', ...display }
  const { results, ...others } = yield* trends.run(asked, env)
  return { ...others, results: results[0]?.calendar_heatmap_data ?? nothing }
}

export const calendarHeatmapKind: QueryKind<'CalendarHeatmapQuery', typeof calendarHeatmapSchema, CalendarHeatmapAnswer> = {
  kind: 'CalendarHeatmapQuery',
  isCached: true,
  schema: calendarHeatmapSchema,
  run,
}
