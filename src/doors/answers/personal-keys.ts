import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'

export const keySchema = z.object({
  id: z.string(),
  label: z.string(),
  value: z.string().nullable(),
  mask_value: z.string(),
  created_at: timeSchema,
  last_used_at: timeSchema.nullable(),
  last_rolled_at: timeSchema.nullable(),
  user_id: z.int(),
  scopes: z.array(z.string()),
  scoped_teams: z.array(z.int()),
  scoped_organizations: z.array(uuidSchema),
})
export type KeyAnswer = z.output<typeof keySchema>
