import * as z from 'zod'
import { freeSchema, type Known, timeSchema, uuidSchema } from './fields.ts'

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

export const slowQuerySchema = z.object({
  id: uuidSchema,
  kind: z.string(),
  form: z.string().meta({ description: '`answer`, or `rows` and `download`: those are measured up to their first rows' }),
  caller: z.string().meta({ description: '`user` and the id of a user, `library` for the application, or another name' }),
  user_id: z.int().nullable(),
  outcome: z.enum(['answered', 'failed', 'cancelled']),
  error: z.string().nullable().meta({ description: 'The code of the error' }),
  milliseconds: z.int(),
  rows: z.int().nullable().meta({ description: 'null: it was not counted' }),
  steps: z
    .array(z.object({ label: z.string(), seconds: z.number() }))
    .meta({ description: 'Its statements, and what was computed from events in memory; empty if it had no answer' }),
  shape: z.string().meta({ description: 'The query as JSON, with `?` in place of its values' }),
  query: freeSchema.meta({
    description: 'The query with its values, for administrators and for those who asked; null: it is not shown, or too long to be kept',
  }),
  created_at: timeSchema.meta({ description: 'When it ended' }),
})
export type SlowQueryAnswer = Known<z.output<typeof slowQuerySchema>>

export const explainedQuerySchema = z.object({
  explain: z.array(z.looseObject({ label: z.string() })).meta({ description: 'As `explain` of a query answers it' }),
  timings: z.array(z.object({ k: z.string(), t: z.number() })),
})
export type ExplainedQueryAnswer = z.output<typeof explainedQuerySchema>
