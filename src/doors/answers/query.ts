import * as z from 'zod'
import { freeSchema, type Known, timeSchema } from './fields.ts'

const progressSchema = z.object({
  bytes_read: z.null(),
  rows_read: z.int(),
  estimated_rows_total: z.int(),
  time_elapsed: z.number(),
  active_cpu_time: z.null(),
})
const statusSchema = z.looseObject({
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
  query_progress: progressSchema.nullable(),
})
export type QueryStatusAnswer = Known<z.output<typeof statusSchema>>

export const runStatusSchema = z.object({ query_status: statusSchema })
export type RunStatusAnswer = { readonly [F in keyof z.output<typeof runStatusSchema>]: QueryStatusAnswer }
