import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const savedFilterSchema = z.object({
  id: uuidSchema,
  name: z.string(),
  properties: freeSchema,
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
})
export type SavedFilterAnswer = z.output<typeof savedFilterSchema>
