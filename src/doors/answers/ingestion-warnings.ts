import * as z from 'zod'
import { freeSchema, timeSchema } from './fields.ts'

export const warningSchema = z.object({
  type: z.string(),
  effect: z.enum(['altered', 'in part', 'dropped']).meta({ description: 'What happened to the events' }),
  description: z.string(),
  count: z.int().meta({ description: 'Exact number since the project was created' }),
  last_seen_at: timeSchema,
  samples: z
    .array(z.object({ timestamp: timeSchema, details: z.record(z.string(), freeSchema) }))
    .nullable()
    .meta({ description: 'The ten latest, newest first; null for keys without `query:read`' }),
})
export type WarningAnswer = z.output<typeof warningSchema>
