import * as z from 'zod'
import { freeSchema, timeSchema } from './fields.ts'
import { answeredInsightSchema } from './insights.ts'
import { userSchema } from './users.ts'

export const dashboardSchema = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  pinned: z.boolean(),
  deleted: z.boolean(),
  tags: z.array(z.string()),
  created_at: timeSchema,
  created_by: userSchema.nullable(),
  last_modified_at: timeSchema.nullable(),
  last_accessed_at: timeSchema.nullable(),
  creation_mode: z.string(),
  restriction_level: z.int(),
  effective_restriction_level: z.int(),
  effective_privilege_level: z.int(),
})
export type DashboardAnswer = z.output<typeof dashboardSchema>
const tileSchema = z.object({
  id: z.int(),
  insight: answeredInsightSchema.nullable(),
  text: z.object({ body: z.string(), last_modified_at: timeSchema.nullable(), last_modified_by: userSchema.nullable() }).nullable(),
  layouts: z.record(z.string(), freeSchema),
  color: z.string().nullable(),
  order: z.int(),
  show_description: z.boolean().nullable(),
  filters_overrides: z.record(z.string(), freeSchema),
  deleted: z.boolean(),
  is_cached: z.boolean(),
  last_refresh: timeSchema.nullable(),
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
})
export type TileAnswer = z.output<typeof tileSchema>
export const wholeSchema = dashboardSchema.extend({
  filters: z.record(z.string(), freeSchema),
  variables: z.record(z.string(), freeSchema),
  persisted_filters: z.record(z.string(), freeSchema),
  persisted_variables: z.record(z.string(), freeSchema),
  breakdown_colors: z.array(freeSchema),
  data_color_theme_id: z.int().nullable(),
  tiles: z.array(tileSchema),
})
export type WholeDashboardAnswer = z.output<typeof wholeSchema>
