import * as z from 'zod'
import { notesSchema } from './definition-fields.ts'
import { timeSchema, uuidSchema } from './fields.ts'

export const definitionSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  ...notesSchema,
  count: z.int().meta({ description: 'Number of such events received' }),
  created_at: timeSchema.nullable().meta({ description: 'The time of the earliest one' }),
  last_seen_at: timeSchema.nullable(),
  is_action: z.literal(false),
  owner: z.null(),
})
export type EventDefinitionAnswer = z.output<typeof definitionSchema>
