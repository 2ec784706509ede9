import * as z from 'zod'
import { timeSchema } from './fields.ts'
import { userSchema } from './users.ts'

const amountSchema = z.int().nullable()
export const historicalImportSchema = z.object({
  source: z.string(),
  method: z.string(),
  total_events: amountSchema,
  events_per_minute: amountSchema,
  is_approved: z.boolean(),
  approved_by: z.string().nullable(),
  approved_at: timeSchema.nullable(),
  imported_events: z.int().meta({ description: 'Past events that were received so far, those that are removed or were sent again too' }),
  removed_events: z.int().meta({ description: 'Of these: removed with the imports that were undone' }),
  limits: z.object({ total_events: amountSchema, events_per_minute: amountSchema }),
})
export type HistoricalImportAnswer = z.output<typeof historicalImportSchema>

export const importSchema = z.object({
  id: z.string(),
  file: z.string(),
  format: z.string(),
  status: z.enum(['running', 'done', 'stopped', 'undoing', 'undone']),
  rows: z.int().nullable().meta({ description: 'Rows of the file that were read; null: unknown' }),
  unreadable: z.int().nullable(),
  events: z.int().meta({ description: 'Events that it has stored' }),
  duplicates: z.int().meta({ description: 'Events that were stored before' }),
  events_left: z.int().nullable().meta({ description: 'Of an import that is being undone: events that are still stored' }),
  removed_events: z.int().nullable(),
  removed_persons: z.int().nullable(),
  latest_error: z.string().nullable(),
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  finished_at: timeSchema.nullable(),
  undone_by: userSchema.nullable(),
  undone_at: timeSchema.nullable(),
})
export type ImportAnswer = z.output<typeof importSchema>
