import * as z from 'zod'
import { freeSchema, timeSchema } from './fields.ts'
import { userSchema } from './users.ts'

const textSchema = z.string().nullable()
const stepSchema = z.object({
  event: textSchema,
  properties: z.array(freeSchema).nullable(),
  selector: textSchema,
  tag_name: textSchema,
  text: textSchema,
  text_matching: textSchema,
  href: textSchema,
  href_matching: textSchema,
  url: textSchema,
  url_matching: textSchema,
})
export const stepFields = stepSchema.keyof().options
export type StepAnswer = z.output<typeof stepSchema>
export const actionSchema = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  steps: z.array(stepSchema).meta({ description: 'Each with all fields; null where the step has no value' }),
  tags: z.array(z.string()),
  pinned_at: timeSchema.nullable(),
  is_calculating: z.literal(false).meta({ description: 'Queries match the steps; nothing is precomputed' }),
  is_action: z.literal(true),
  team_id: z.int(),
  deleted: z.boolean(),
  created_at: timeSchema,
  updated_at: timeSchema,
  created_by: userSchema.nullable(),
})
export type ActionAnswer = z.output<typeof actionSchema>
