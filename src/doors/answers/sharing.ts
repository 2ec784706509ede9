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
