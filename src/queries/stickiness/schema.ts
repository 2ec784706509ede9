import * as z from 'zod'
import { intervals } from '../../lib/time/calendar.ts'
import { fields } from '../fields.ts'
import { compareFilterSchema, dateRangeSchema, everyQuery } from '../schemas.ts'
import { filtersSchema, groupTypeIndex, seriesNodeSchema } from '../series/series.ts'

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

export const comparisons = ['gte', 'lte', 'exact', 'gt', 'lt'] as const
export type Comparison = (typeof comparisons)[number]

/** What a series can count; a count of events means the persons who did them. */
const maths = ['total', 'dau', 'unique_group', 'hogql']

export const stickinessSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('StickinessQuery'),
    series: z.array(seriesNodeSchema).min(1, { error: 'A stickiness query needs at least one series.' }),
    interval: nullish(z.enum(intervals)),
    intervalCount: nullish(z.number().int().min(1)),
    dateRange: nullish(dateRangeSchema),
    compareFilter: nullish(compareFilterSchema),
    stickinessFilter: nullish(
      fields(
        {
          computedAs: nullish(z.enum(['non_cumulative', 'cumulative'])),
          stickinessCriteria: nullish(fields({ operator: z.enum(comparisons), value: z.number().int().min(1) }, 'range')),
        },
        'stickinessFilter',
      ),
    ),
    properties: nullish(filtersSchema),
    filterTestAccounts: nullish(z.boolean()),
    samplingFactor: nullish(z.number().gt(0).lte(1)),
    aggregation_group_type_index: nullish(groupTypeIndex),
  },
  'query',
).superRefine(({ series }, context) => {
  for (const [i, { math, math_hogql, math_group_type_index: group }] of series.entries()) {
    const wrong = (message: string, name: string) => context.addIssue({ code: 'custom', message, path: ['series', i, name] })
    if (math && !maths.includes(math)) wrong(`The math ${math} does not count actors. Choose one of ${maths.join(', ')}.`, 'math')
    if (math === 'unique_group' && group == null) wrong('The math unique_group needs a group type index.', 'math_group_type_index')
    if (math === 'hogql' && !math_hogql) wrong('The math hogql needs an expression.', 'math_hogql')
  }
})

export type StickinessQuery = z.infer<typeof stickinessSchema>
