import * as z from 'zod'
import { timeSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const notesSchema = {
  description: z.string(),
  tags: z.array(z.string()),
  verified: z.boolean(),
  verified_at: timeSchema.nullable(),
  verified_by: userSchema.nullable(),
  hidden: z.boolean().meta({ description: 'Not suggested by editors; queries still work' }),
  updated_at: timeSchema.nullable().meta({ description: 'When a user last changed one of these' }),
  updated_by: userSchema.nullable(),
}
export type NotesAnswer = { readonly [F in keyof typeof notesSchema]: z.output<(typeof notesSchema)[F]> }
