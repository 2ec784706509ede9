import type { AccountContext } from '../accounts/context.ts'
import type { AccountTables, BatchExport } from '../accounts/records.ts'

export const logLevels = ['DEBUG', 'LOG', 'INFO', 'WARNING', 'ERROR'] as const
export type LogLevel = (typeof logLevels)[number]

/** Adds a line to the log of an export, or of one of its runs. */
export const addLog = (
  context: Pick<AccountContext, 'clock' | 'newId'>,
  tables: AccountTables,
  { id, project_id }: Pick<BatchExport, 'id' | 'project_id'>,
  runId: string | null,
  level: LogLevel,
  message: string,
): Promise<void> =>
  tables.batch_export_logs.insert({
    id: context.newId(),
    project_id,
    batch_export_id: id,
    run_id: runId,
    timestamp: context.clock(),
    level,
    message,
  })
