import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const memberSchema = z.object({
  id: uuidSchema,
  user: userSchema,
  level: z.int(),
  joined_at: timeSchema,
  updated_at: timeSchema,
  is_2fa_enabled: z.boolean(),
  has_social_auth: z.boolean(),
})
export type MemberAnswer = z.output<typeof memberSchema>
