import * as z from 'zod'
import { freeSchema, timeSchema } from './fields.ts'

export const statusSchema = z.looseObject({
  id: z.string(),
  team_id: z.int(),
  query_async: z.boolean(),
  complete: z.boolean().meta({ description: 'The query has succeeded: `results` has its answer. Poll until this or `error` is true' }),
  error: z.boolean().meta({ description: 'The query has failed: `error_message` gives the reason' }),
  error_message: z.string().nullable(),
  results: freeSchema,
  start_time: timeSchema.nullable(),
  end_time: timeSchema.nullable(),
  expiration_time: timeSchema.nullable(),
  task_id: z.string().nullable(),
  labels: freeSchema,
  query_progress: freeSchema,
})
export type QueryStatusAnswer = z.output<typeof statusSchema>
