import * as z from 'zod'
import { timeSchema } from './fields.ts'

const amountSchema = z.int().nullable()
export const historicalImportSchema = z.object({
  source: z.string(),
  method: z.string(),
  total_events: amountSchema,
  events_per_minute: amountSchema,
  is_approved: z.boolean(),
  approved_by: z.string().nullable(),
  approved_at: timeSchema.nullable(),
  imported_events: z.int(),
  limits: z.object({ total_events: amountSchema, events_per_minute: amountSchema }),
})
export type HistoricalImportAnswer = z.output<typeof historicalImportSchema>
