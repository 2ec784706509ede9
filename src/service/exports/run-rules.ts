import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, entryAbout, log } from '../accounts/context.ts'
import { check, readTime } from '../accounts/fields.ts'
import type { AccountTables, BatchExport, BatchExportBackfill, BatchExportRun } from '../accounts/records.ts'
import { invalid, mustFind } from '../accounts/refusals.ts'
import { backfillInput } from './fields.ts'
import { addLog } from './logs.ts'
import type { ExportServices } from './parts.ts'
import type { Model } from './ports.ts'
import { activeStates, intervalOf, isActive, retryLane } from './records.ts'
import { shownBackfillId } from './running/backfill-id.ts'
import { newRun } from './running/new-run.ts'
import { countRuns, floorOf, type Interval, intervalMs } from './running/schedule.ts'

// The rules of runs and backfills, for requests.

/** Its position is the last one. */
const farFuture = new Date('9999-01-01T00:00:00Z')
export const note = (by: ActingMember, record: BatchExport, activity: string) =>
  entryAbout('BatchExport', record, record.name, by.user, activity)
export const asItIs = (tables: AccountTables, id: string): Promise<BatchExport> =>
  mustFind(tables.batch_exports.first({ id, is_deleted: false }))

/** Runs that end here were not executed, or not to their end. */
export const endRuns = async (
  { context, stop }: ExportServices,
  tables: AccountTables,
  record: BatchExport,
  runs: readonly BatchExportRun[],
  reason: string,
) => {
  const at = context.clock()
  const ended = { status: 'Cancelled', finished_at: at, last_updated_at: at }
  for (const { id } of runs) {
    await tables.batch_export_runs.update({ id }, ended)
    await addLog(context, tables, record, id, 'INFO', reason)
  }
  stop(runs.map(({ id }) => id))
}

export const retryRun = async (
  context: AccountContext,
  tables: AccountTables,
  record: BatchExport,
  run: BatchExportRun,
): Promise<BatchExportRun> => {
  const { backfill_id, key, data_interval_start, data_interval_end, range } = run
  const rows = { backfill_id, key, data_interval_start, data_interval_end, range }
  const again = newRun(record, context.clock(), { id: context.newId(), lane: retryLane, ...rows })
  await tables.batch_export_runs.insert(again)
  await addLog(context, tables, record, again.id, 'INFO', `Retries the run ${run.id}.`)
  return again
}

const readBackfillRange = (context: AccountContext, record: BatchExport, body: unknown): { start: Date | null; end: Date | null } => {
  const { start_at, end_at } = check(backfillInput, body ?? {})
  if (start_at === undefined || end_at === undefined) throw invalid("Both 'start_at' and 'end_at' must be specified")
  const read = (given: string | null) => {
    const time = given === null ? null : readTime(given)
    if (given !== null && time === null) throw invalid(`Input ${given} is not a valid ISO formatted datetime.`)
    return time
  }
  const [start, end] = [read(start_at), read(end_at)]
  if (start && end && start >= end) throw invalid("The initial backfill datetime 'start_at' happens after 'end_at'. It must be before it.")
  const latest = context.clock().getTime() + intervalMs[intervalOf(record)]
  if (end && end.getTime() > latest)
    throw invalid(`The provided 'end_at' (${end.toISOString()}) is too far into the future. Use a time up to one interval from now.`)
  return { start, end }
}

export const backfillWrites = (parts: ExportServices) => {
  const { context, rows, wake } = parts
  return {
    async backfill(by: ActingMember, record: BatchExport, body: unknown): Promise<BatchExportBackfill> {
      const { start, end } = readBackfillRange(context, record, body)
      const source = await rows(record.project_id)
      const position = await source.positionAt(farFuture, 0)
      const first = start ?? (await source.firstTime(record.model as Model))
      if (!first) throw invalid('There is nothing to backfill: the project has no such rows yet.', 'start_at')
      const made = await writeAs(context, by, async (tables) => {
        const current = await asItIs(tables, record.id)
        const at = context.clock()
        const from = start ?? new Date(floorOf(intervalOf(current), first.getTime()))
        const total_runs = countRuns(intervalOf(current), from.getTime(), (end ?? at).getTime())
        if (total_runs > mostBackfillRuns) throw invalid(tooManyRuns(total_runs, intervalOf(current)), 'start_at')
        const backfill: BatchExportBackfill = {
          id: context.newId(),
          batch_export_id: current.id,
          project_id: current.project_id,
          shown_id: shownBackfillId(current.id, start, end),
          status: 'Running',
          start_at: start,
          end_at: end ?? at,
          next_start: from,
          position,
          total_runs,
          finished_runs: 0,
          created_at: at,
          last_updated_at: at,
          finished_at: null,
        }
        await tables.batch_export_backfills.insert(backfill)
        await log(context, tables, note(by, current, 'backfill_started'))
        return backfill
      })
      wake()
      return made
    },

    async cancelBackfill(by: ActingMember, record: BatchExport, { id }: BatchExportBackfill): Promise<BatchExportBackfill> {
      return writeAs(context, by, async (tables) => {
        const found = await mustFind(tables.batch_export_backfills.first({ id }))
        if (!isActive(found)) throw invalid(`Cannot cancel a backfill that is in '${found.status}' status`)
        const at = context.clock()
        const runs = await tables.batch_export_runs.find({ backfill_id: id, status: activeStates })
        await endRuns(parts, tables, record, runs, 'Cancelled with its backfill by a user.')
        const ended = { status: 'Cancelled', next_start: null, finished_at: at, last_updated_at: at }
        await tables.batch_export_backfills.update({ id }, ended)
        await log(context, tables, note(by, record, 'backfill_cancelled'))
        return { ...found, ...ended }
      })
    },
  }
}

export const runWrites = (parts: ExportServices) => {
  const { context, wake } = parts
  return {
    /** The same rows under the same key: what the run published before is replaced. */
    async retry(by: ActingMember, record: BatchExport, { id }: BatchExportRun): Promise<BatchExportRun> {
      const made = await writeAs(context, by, async (tables) => {
        await asItIs(tables, record.id)
        const run = await mustFind(tables.batch_export_runs.first({ id }))
        if (isActive(run)) throw invalid(`Cannot retry a run that is in '${run.status}' status`)
        const again = await retryRun(context, tables, record, run)
        await log(context, tables, note(by, record, 'run_retried'))
        return again
      })
      wake()
      return made
    },

    cancel: (by: ActingMember, record: BatchExport, { id }: BatchExportRun): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const run = await mustFind(tables.batch_export_runs.first({ id }))
        if (!isActive(run)) throw invalid(`Cannot cancel a run that is in '${run.status}' status`)
        await endRuns(parts, tables, record, [run], 'Cancelled by a user.')
        await log(context, tables, note(by, record, 'run_cancelled'))
      }),
  }
}
/** A year of five minutes. */
const mostBackfillRuns = 105_408
const tooManyRuns = (runs: number, interval: Interval) =>
  `A backfill has at most ${mostBackfillRuns.toLocaleString('en')} intervals, but this range has ${runs.toLocaleString('en')} of the interval ${interval}. Use a later start_at, or an export with a longer interval.`
