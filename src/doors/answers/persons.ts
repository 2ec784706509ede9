import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'

export const idsShown = 1_000
export const personSchema = z.object({
  id: uuidSchema,
  uuid: uuidSchema,
  type: z.literal('person'),
  name: z
    .string()
    .meta({ description: 'By `person_display_name_properties` of the project, else a distinct id, if possible one that is not anonymous' }),
  distinct_ids: z.array(z.string()).meta({ description: `At most ${idsShown} in a list` }),
  properties: z.record(z.string(), freeSchema),
  created_at: timeSchema,
  is_identified: z.boolean(),
})
export type PersonAnswer = z.output<typeof personSchema>
export const doneSchema = z.object({ success: z.literal(true), person: personSchema })

export const personCohortsSchema = z.object({
  results: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      is_static: z.boolean(),
      count: z.int().meta({ description: 'Members, as of its last calculation' }),
    }),
  ),
})
export type PersonCohortsAnswer = z.output<typeof personCohortsSchema>
