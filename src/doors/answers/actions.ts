import * as z from 'zod'
import { freeSchema, timeSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const stepFields = [
  ...['event', 'properties', 'selector', 'tag_name', 'text', 'text_matching', 'href', 'href_matching', 'url', 'url_matching'],
]
export const stepSchema = z.object(Object.fromEntries(stepFields.map((name) => [name, freeSchema])))
export const actionSchema = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  steps: z.array(stepSchema).meta({ description: 'Each with all fields: null where the step says nothing' }),
  tags: z.array(z.string()),
  pinned_at: timeSchema.nullable(),
  is_calculating: z.literal(false).meta({ description: 'Queries match the steps, nothing is computed before' }),
  is_action: z.literal(true),
  team_id: z.int(),
  deleted: z.boolean(),
  created_at: timeSchema,
  updated_at: timeSchema,
  created_by: userSchema.nullable(),
})
export type ActionAnswer = z.output<typeof actionSchema>
