import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const cohortSchema = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  is_static: z.boolean(),
  filters: z.record(z.string(), freeSchema).nullable(),
  count: z.int(),
  last_calculation: timeSchema.nullable(),
  is_calculating: z.literal(false),
  errors_calculating: z.int(),
  deleted: z.boolean(),
  created_at: timeSchema,
  updated_at: timeSchema,
  created_by: userSchema.nullable(),
  matching: z
    .object({ values: z.int(), unmatched: z.int(), unmatched_values: z.array(z.string()), several: z.int() })
    .optional()
    .meta({
      description:
        'In the answer to a change of the members by values: how many nobody has, with the first hundred, and how many several persons have',
    }),
})
export type CohortAnswer = z.output<typeof cohortSchema>
export const personSchema = z.object({
  id: uuidSchema,
  distinct_ids: z.array(z.string()),
  properties: z.record(z.string(), freeSchema),
  created_at: timeSchema,
  is_identified: z.boolean(),
})
export type CohortPersonAnswer = z.output<typeof personSchema>
