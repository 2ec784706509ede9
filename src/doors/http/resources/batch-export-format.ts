import * as z from 'zod'
import type { BatchExport, BatchExportBackfill, BatchExportLog, BatchExportRun } from '../../../service/accounts/records.ts'
import { schemaOf } from '../../../service/exports/records.ts'
import { freeSchema, maybeTime, time, timeSchema, uuidSchema } from '../present.ts'

// The format of batch exports, their runs, backfills and logs.

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
export const presentExportRun = (run: BatchExportRun): z.infer<typeof runSchema> => ({
  id: run.id,
  batch_export: run.batch_export_id,
  status: run.status,
  records_completed: run.records_completed,
  records_total_count: run.records_total_count,
  bytes_exported: run.bytes_exported === null ? null : Number(run.bytes_exported),
  latest_error: run.latest_error,
  data_interval_start: maybeTime(run.data_interval_start),
  data_interval_end: time(run.data_interval_end),
  cursor: run.cursor,
  backfill: run.backfill_id,
  created_at: time(run.created_at),
  finished_at: maybeTime(run.finished_at),
  last_updated_at: time(run.last_updated_at),
})

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
export const presentExport = (record: BatchExport, latest: readonly BatchExportRun[]): z.infer<typeof exportSchema> => ({
  id: record.id,
  team_id: record.project_id,
  name: record.name,
  model: record.model,
  destination: { type: record.destination_type, config: record.config as Record<string, unknown> },
  interval: record.interval,
  paused: record.paused,
  paused_reason: record.paused_reason,
  created_at: time(record.created_at),
  last_updated_at: time(record.last_updated_at),
  last_paused_at: maybeTime(record.last_paused_at),
  start_at: maybeTime(record.start_at),
  end_at: maybeTime(record.end_at),
  latest_runs: latest.map(presentExportRun),
  sql_like_query: schemaOf(record)?.sql_like_query ?? null,
  schema: record.schema as Record<string, unknown> | null,
  filters: record.filters as unknown[] | null,
})

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
export const presentBackfill = (backfill: BatchExportBackfill): z.infer<typeof backfillSchema> => {
  const { total_runs, finished_runs } = backfill
  return {
    id: backfill.id,
    backfill_id: backfill.shown_id,
    team: backfill.project_id,
    batch_export: backfill.batch_export_id,
    start_at: maybeTime(backfill.start_at),
    end_at: maybeTime(backfill.end_at),
    status: backfill.status,
    progress: { total_runs, finished_runs, progress: total_runs === 0 ? 1 : Math.min(1, finished_runs / total_runs) },
    created_at: time(backfill.created_at),
    finished_at: maybeTime(backfill.finished_at),
  }
}

export const logSchema = z.object({
  team_id: z.int(),
  batch_export_id: uuidSchema,
  run_id: uuidSchema.nullable(),
  timestamp: timeSchema,
  level: z.string(),
  message: z.string(),
})
export const presentLog = (line: BatchExportLog): z.infer<typeof logSchema> => ({
  team_id: line.project_id,
  batch_export_id: line.batch_export_id,
  run_id: line.run_id,
  timestamp: time(line.timestamp),
  level: line.level,
  message: line.message,
})

export const stepSchema = z.object({
  name: z.string(),
  description: z.string(),
  result: z.object({ status: z.enum(['Passed', 'Failed']), message: z.string().nullable() }).nullable(),
})

export const destinationSchema = z.object({
  type: z.string(),
  summary: z.string(),
  config_schema: z.record(z.string(), freeSchema),
  secrets: z.array(z.string()),
})
