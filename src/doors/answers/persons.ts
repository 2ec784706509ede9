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

export const deletionSchema = z.object({
  id: uuidSchema,
  asked: z.object({
    by: z.enum(['ids', 'distinct_ids', 'cohort', 'property', 'retention']).meta({
      description: 'How persons were given; or the values of a property were deleted, or what the project does not keep any longer',
    }),
    cohort: z.int().nullable(),
    property: z.string().nullable().meta({ description: 'Its scope and its name: `person email`' }),
    count: z.int().meta({ description: 'Different ids that were given, or members of the cohort' }),
  }),
  with_events: z.boolean(),
  persons: z.int().meta({ description: 'Deleted persons; those who lost the property' }),
  distinct_ids: z.int().meta({ description: 'The distinct ids that they had' }),
  events: z.int().meta({ description: 'Deleted events; those that lost the property' }),
  not_found: z.int().meta({ description: 'Given ids or members whose person does not exist, or was deleted by another request meanwhile' }),
  is_complete: z.boolean().meta({ description: 'False: the cohort has more members; ask again' }),
  created_at: timeSchema,
  created_by: z.object({ id: z.int(), email: z.string() }).nullable(),
  finished_at: timeSchema.nullable().meta({ description: 'Null: it is at work, or was broken off; the counts are those until then' }),
})
export type DeletionAnswer = z.output<typeof deletionSchema>

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
