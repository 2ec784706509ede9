import * as z from 'zod'
import { timeSchema } from './fields.ts'

export const sharingSchema = z.object({
  created_at: timeSchema.nullable(),
  enabled: z.boolean(),
  access_token: z.string().nullable(),
  url: z.string().nullable().meta({ description: 'Of the page, while sharing is enabled' }),
  settings: z.record(z.string(), z.unknown()),
})
export type SharingAnswer = z.output<typeof sharingSchema>

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
