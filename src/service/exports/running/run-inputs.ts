import { join } from 'node:path'
import type { BatchExport, BatchExportRun } from '../../accounts/records.ts'
import { DestinationError, type ExportRun } from '../destinations/destination.ts'
import { readExportQuery } from '../export-query.ts'
import type { Field, Model, RowSelection } from '../ports.ts'
import { rangeOf, schemaOf } from '../records.ts'
import { destinationOf, eventLists, readSettings, unseal } from '../settings.ts'
import { identities, usualColumns } from '../writing/columns.ts'
import type { RunParts } from './run.ts'
import type { SchedulerParts } from './scheduler-parts.ts'

const final = (message: string) => new DestinationError(message, { isRetryable: false })

/** What a run needs, from what is stored. */
export async function runInputs(
  { box, outside, rows: rowsOf, stagingFolder, context }: SchedulerParts,
  record: BatchExport,
  stored: BatchExportRun,
): Promise<Omit<RunParts, 'signal' | 'onProgress'>> {
  const rows = await rowsOf(record.project_id)
  if (!rows) throw final('The project no longer exists.')
  const destination = destinationOf(record.destination_type)
  const config = readSettings(record.destination_type, unseal(record, box))
  const model = record.model as Model
  const query = schemaOf(record)
  const read = query && readExportQuery(query.hogql_query, record.project_id, context.clock())
  const fields = read?.fields ?? destination.columns?.(config, model) ?? usualColumns[model]
  const selection: RowSelection = {
    model,
    fields,
    where: read?.where ?? null,
    tableAlias: read?.alias ?? null,
    filters: Array.isArray(record.filters) && model === 'events' ? record.filters : null,
    ...(model === 'events' ? eventLists(record.config) : { include: [], exclude: [] }),
    range: rangeOf(stored),
  }
  const run: ExportRun = {
    id: stored.id,
    export_id: record.id,
    project_id: record.project_id,
    model,
    attempt: stored.attempt,
    key: stored.key,
    start: stored.data_interval_start,
    end: stored.data_interval_end,
    isBackfill: selection.range.by === 'time',
    columns: await rows.columns(selection),
    identity: identityOf(model, fields),
  }
  return { rows, selection, destination, config, run, outside, stagingFolder: join(stagingFolder, stored.id) }
}

const identityOf = (model: Model, fields: readonly Field[]): readonly string[] => {
  const found = identities[model].map((name) => fields.find(({ expression }) => expression === name)?.alias)
  return found.every((name) => name !== undefined) ? (found as string[]) : []
}
