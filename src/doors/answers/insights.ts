import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const storedQuerySchema = z.looseObject({ kind: z.string() })
const answerSchema = z.object({
  result: freeSchema,
  columns: freeSchema,
  types: freeSchema,
  hasMore: z.boolean().nullable(),
  hogql: z.string().nullable(),
  warnings: freeSchema,
  is_cached: z.boolean(),
  cache_target_age: timeSchema.nullable(),
  next_allowed_client_refresh: timeSchema.nullable(),
  timezone: z.string().nullable(),
  resolved_date_range: freeSchema,
  // Only of the queries that answer them.
  resolved_compare_date_range: freeSchema.optional(),
  compare_results: freeSchema.optional(),
  boxplot_data: freeSchema.optional(),
  mean: freeSchema.optional(),
  total_median_conversion_time: z.number().nullable().optional(),
  unconnected: z.int().optional(),
  query_status: freeSchema,
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
})
export type InsightResultAnswer = z.output<typeof answerSchema>
export const insightSchema = z.object({
  id: z.int(),
  short_id: z.string(),
  name: z.string().nullable(),
  derived_name: z.string().nullable(),
  description: z.string(),
  query: storedQuerySchema,
  filters: z.record(z.string(), freeSchema),
  order: z.int().nullable(),
  favorited: z.boolean(),
  saved: z.boolean(),
  deleted: z.boolean(),
  tags: z.array(z.string()),
  dashboards: z.array(z.int()),
  dashboard_tiles: z.array(z.object({ id: z.int(), dashboard_id: z.int(), deleted: z.boolean() })),
  created_at: timeSchema,
  created_by: userSchema.nullable(),
  last_modified_at: timeSchema,
  last_modified_by: userSchema.nullable(),
  updated_at: timeSchema,
  last_viewed_at: timeSchema.nullable(),
  last_refresh: timeSchema.nullable().meta({ description: 'When the cached answer was computed' }),
  refreshing: z.boolean().meta({ description: 'Whether it is computed in the background for this request' }),
  user_access_level: z.enum(['viewer', 'editor']).meta({ description: 'Members of a project may change all insights, viewers none' }),
  is_sample: z.literal(false),
  effective_restriction_level: z.int(),
  effective_privilege_level: z.int(),
})
export type SavedInsightAnswer = z.output<typeof insightSchema>
export const answeredInsightSchema = insightSchema.extend(answerSchema.shape)
export type AnsweredInsightAnswer = z.output<typeof answeredInsightSchema>

export const viewedInsightSchema = insightSchema.extend({ last_viewed_at: timeSchema })
export type ViewedInsightAnswer = z.output<typeof viewedInsightSchema>

export const savedFilterSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  properties: freeSchema,
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
})
export type SavedFilterAnswer = z.output<typeof savedFilterSchema>
