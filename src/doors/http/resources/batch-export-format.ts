import type { BatchExport, BatchExportBackfill, BatchExportLog, BatchExportRun } from '../../../service/accounts/records.ts'
import { schemaOf } from '../../../service/exports/records.ts'
import type { BackfillAnswer, BatchExportAnswer, ExportLogAnswer, ExportRunAnswer } from '../../answers/batch-exports.ts'
import { maybeTime, time } from '../present.ts'

// The format of batch exports, their runs, backfills and logs.

export const presentExportRun = (run: BatchExportRun): ExportRunAnswer => ({
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

export const presentExport = (record: BatchExport, latest: readonly BatchExportRun[]): BatchExportAnswer => ({
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

export const presentBackfill = (backfill: BatchExportBackfill): BackfillAnswer => {
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

export const presentLog = (line: BatchExportLog): ExportLogAnswer => ({
  team_id: line.project_id,
  batch_export_id: line.batch_export_id,
  run_id: line.run_id,
  timestamp: time(line.timestamp),
  level: line.level,
  message: line.message,
})
