import * as z from 'zod'
import { freeSchema, timeSchema, uuidSchema } from './fields.ts'

export const runSchema = z.object({
  id: uuidSchema,
  batch_export: uuidSchema,
  status: z.string(),
  records_completed: z.int(),
  records_total_count: z.int().nullable(),
  bytes_exported: z.int().nullable(),
  latest_error: z.string().nullable(),
  data_interval_start: timeSchema.nullable(),
  data_interval_end: timeSchema,
  cursor: z.string().nullable(),
  backfill: uuidSchema.nullable(),
  created_at: timeSchema,
  finished_at: timeSchema.nullable(),
  last_updated_at: timeSchema,
})
export type ExportRunAnswer = z.output<typeof runSchema>
export const exportSchema = z.object({
  id: uuidSchema,
  team_id: z.int(),
  name: z.string(),
  model: z.string(),
  destination: z.object({ type: z.string(), config: z.record(z.string(), freeSchema) }),
  interval: z.string(),
  paused: z.boolean(),
  paused_reason: z.string().nullable(),
  created_at: timeSchema,
  last_updated_at: timeSchema,
  last_paused_at: timeSchema.nullable(),
  start_at: timeSchema.nullable(),
  end_at: timeSchema.nullable(),
  latest_runs: z.array(runSchema),
  sql_like_query: z.string().nullable(),
  schema: z.record(z.string(), freeSchema).nullable(),
  filters: z.array(freeSchema).nullable(),
})
export type BatchExportAnswer = z.output<typeof exportSchema>
export const backfillSchema = z.object({
  id: uuidSchema,
  backfill_id: z.string(),
  team: z.int(),
  batch_export: uuidSchema,
  start_at: timeSchema.nullable(),
  end_at: timeSchema.nullable(),
  status: z.string(),
  progress: z.object({ total_runs: z.int(), finished_runs: z.int(), progress: z.number() }),
  created_at: timeSchema,
  finished_at: timeSchema.nullable(),
})
export type BackfillAnswer = z.output<typeof backfillSchema>
export const logSchema = z.object({
  team_id: z.int(),
  batch_export_id: uuidSchema,
  run_id: uuidSchema.nullable(),
  timestamp: timeSchema,
  level: z.string(),
  message: z.string(),
})
export type ExportLogAnswer = z.output<typeof logSchema>
export const stepSchema = z.object({
  name: z.string(),
  description: z.string(),
  result: z.object({ status: z.enum(['Passed', 'Failed']), message: z.string().nullable() }).nullable(),
})
export type ExportStepAnswer = z.output<typeof stepSchema>
export const destinationSchema = z.object({
  type: z.string(),
  summary: z.string(),
  config_schema: z.object({ type: z.literal('object'), properties: z.record(z.string(), freeSchema), required: z.array(z.string()) }),
  secrets: z.array(z.string()),
})
export type DestinationAnswer = z.output<typeof destinationSchema>
export const stepsSchema = z.object({ steps: z.array(stepSchema) })
export type ExportStepsAnswer = z.output<typeof stepsSchema>
