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

export const consentSchema = z.object({
  client_name: z.string().meta({ description: 'As the application calls itself' }),
  scope: z.enum(['read', 'write']).meta({ description: 'What it asks for; the user may grant less' }),
  answered_at: z.string().meta({ description: 'Where the browser goes with the answer, without its path' }),
})
export type ConsentAnswer = z.infer<typeof consentSchema>

export const leadsToSchema = z.object({ leads_to: z.string().meta({ description: 'The address of the application, with its answer' }) })
export type LeadsToAnswer = z.infer<typeof leadsToSchema>
