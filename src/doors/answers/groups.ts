import * as z from 'zod'
import { freeSchema, timeSchema } from './fields.ts'

export const typeSchema = z.object({
  group_type: z.string(),
  group_type_index: z.int(),
  name_singular: z.string().nullable(),
  name_plural: z.string().nullable(),
})
export type GroupTypeAnswer = z.output<typeof typeSchema>
export const groupSchema = z.object({
  group_type_index: z.int(),
  group_key: z.string(),
  group_properties: z.record(z.string(), freeSchema),
  created_at: timeSchema,
})
export type GroupAnswer = z.output<typeof groupSchema>
export const relatedSchema = z.object({
  type: z.enum(['person', 'group']),
  id: z.string().meta({ description: 'The uuid of a person, or the key of a group' }),
  group_type_index: z.int().nullable(),
  group_key: z.string().nullable(),
  distinct_ids: z.array(z.string()),
  properties: z.record(z.string(), freeSchema),
  created_at: timeSchema,
})
export type RelatedAnswer = z.output<typeof relatedSchema>
