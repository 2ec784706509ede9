import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'

export const eventSchema = z.object({
  id: uuidSchema,
  uuid: uuidSchema,
  event: z.string(),
  distinct_id: z.string(),
  timestamp: timeSchema,
  properties: z.record(z.string(), freeSchema),
  person: z
    .object({
      id: uuidSchema,
      distinct_ids: z.array(z.string()).meta({ description: 'Only the distinct id of the event' }),
      properties: z.record(z.string(), freeSchema),
      created_at: timeSchema,
    })
    .nullable()
    .meta({ description: 'As of now; null for events without a person' }),
  elements: z.array(freeSchema),
  elements_chain: z.string(),
})
export type EventAnswer = z.output<typeof eventSchema>

export const positionSchema = z.object({ position: z.int() })
export type PositionAnswer = z.output<typeof positionSchema>
