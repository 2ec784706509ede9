import * as z from 'zod'
import { timeSchema } from './fields.ts'

export const viewerKeySchema = z.object({
  id: z.string().meta({ description: 'The `kid` of tokens' }),
  name: z.string(),
  secret: z.string().nullable().meta({ description: 'What tokens are signed with; shown once, when the key is made' }),
  created_by: z.int().nullable(),
  created_at: timeSchema,
})
export type ViewerKeyAnswer = z.output<typeof viewerKeySchema>

export const viewerTokenSchema = z.object({
  id: z.string().meta({ description: 'The `jti` of the token' }),
  token: z.string(),
  expires_at: timeSchema,
})
export type ViewerTokenAnswer = z.output<typeof viewerTokenSchema>

export const viewerSchema = z.object({
  insights: z.array(z.int()),
  dashboard: z.int().nullable(),
  kinds: z.array(z.string()),
  theme: z.record(z.string(), z.string()),
  timezone: z.string(),
  expires_at: timeSchema,
})
export type ViewerAnswer = z.output<typeof viewerSchema>
