import type { BatchExport, BatchExportRun } from '../../accounts/records.ts'

type Given = Pick<BatchExportRun, 'id' | 'lane' | 'backfill_id' | 'key' | 'data_interval_start' | 'data_interval_end' | 'range'>

/** A run that is due now. */
export const newRun = ({ id, project_id }: Pick<BatchExport, 'id' | 'project_id'>, at: Date, given: Given): BatchExportRun => ({
  batch_export_id: id,
  project_id,
  status: 'Starting',
  attempt: 0,
  failures: 0,
  due_at: at,
  records_completed: 0,
  records_total_count: null,
  bytes_exported: null,
  cursor: null,
  latest_error: null,
  created_at: at,
  last_updated_at: at,
  finished_at: null,
  ...given,
})
