import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'

export const quotaSchema = z.object({
  limit: z.int().nullable().meta({ description: 'Of the operator and the owner, the lower one; null: none' }),
  taken: z.int(),
  resets_at: timeSchema,
})
export const projectSchema = z.looseObject({
  id: z.int(),
  organization: uuidSchema,
  name: z.string(),
  uuid: uuidSchema,
  api_token: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  ingested_event: z.boolean(),
  is_demo: z.boolean(),
  timezone: z.string(),
  week_start_day: z.int().nullable(),
  access_control: z.boolean(),
  effective_membership_level: z.int().nullable(),
  has_group_types: z.boolean(),
  group_types: z.array(freeSchema),
  event_quota: quotaSchema.meta({ description: 'Events of clients on this day, in UTC' }),
})
export type ProjectAnswer = z.output<typeof projectSchema>
