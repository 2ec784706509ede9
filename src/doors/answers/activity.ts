import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'

const changeSchema = z.object({
  type: z.string(),
  action: z.enum(['created', 'changed', 'deleted']),
  field: z.string(),
  before: freeSchema,
  after: freeSchema,
})
const entrySchema = z.object({
  id: uuidSchema,
  user: z.object({ first_name: z.string(), email: z.string() }).nullable(),
  activity: z.string(),
  scope: z.string(),
  item_id: z.string(),
  detail: z.object({
    name: z.string().nullable(),
    short_id: z.string().nullable(),
    type: z.string().nullable(),
    changes: z.array(changeSchema).nullable(),
    trigger: z.unknown(),
    from: z
      .object({ address: z.string().nullable(), user_agent: z.string().nullable() })
      .optional()
      .meta({ description: 'Where it was done, of what concerns signing in' }),
  }),
  created_at: timeSchema,
  unread: z.boolean(),
  is_system: z.boolean(),
  was_impersonated: z.boolean(),
})
export type ActivityEntryAnswer = z.output<typeof entrySchema>
export const activitySchema = z.object({
  results: z.array(entrySchema),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  total_count: z.int(),
})
export type ActivityAnswer = z.output<typeof activitySchema>
