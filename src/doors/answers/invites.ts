import * as z from 'zod'
import { timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const inviteSchema = z.object({
  id: uuidSchema,
  target_email: z.string().meta({ format: 'email' }),
  first_name: z.string(),
  emailing_attempt_made: z.boolean(),
  level: z.int(),
  is_expired: z.boolean(),
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  message: z.string().nullable(),
  private_project_access: z.array(z.object({ id: z.int(), level: z.string() })),
})
export type InviteAnswer = z.output<typeof inviteSchema>
export const sentSchema = inviteSchema.extend({
  secret: z.string().nullable().meta({
    description:
      'The secret that accepts it, for `/api/signup/`. Returned once if no e-mail was sent, otherwise only in the e-mail. Never returned to a key without all scopes',
  }),
})
export type SentInviteAnswer = z.output<typeof sentSchema>
