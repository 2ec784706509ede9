import type { BatchExportBackfill } from '../../accounts/records.ts'
import { activeStates, asJson, intervalOf } from '../records.ts'
import { newRun } from './new-run.ts'
import { backfillEnd } from './schedule.ts'
import type { SchedulerParts } from './scheduler-parts.ts'

/** Creates the next run of a backfill once the one before has ended; after the last one, the backfill is completed. */
export async function nextBackfillRun({ context }: SchedulerParts, { id }: BatchExportBackfill): Promise<void> {
  await context.store.write(async (tables) => {
    const backfill = await tables.batch_export_backfills.first({ id, status: 'Running' })
    const record = backfill && (await tables.batch_exports.first({ id: backfill.batch_export_id, is_deleted: false }))
    if (!backfill || !record) return
    if (await tables.batch_export_runs.first({ lane: id, status: activeStates })) return
    const at = context.clock()
    const { next_start: start, end_at } = backfill
    if (start === null || start >= end_at!) {
      await tables.batch_export_backfills.update({ id }, { status: 'Completed', next_start: null, finished_at: at, last_updated_at: at })
      return
    }
    const end = new Date(backfillEnd(intervalOf(record), start.getTime(), end_at!.getTime()))
    const run = newRun(record, at, {
      id: context.newId(),
      lane: id,
      backfill_id: id,
      key: `${record.id}-${start.getTime()}-${end.getTime()}-backfill`,
      data_interval_start: start,
      data_interval_end: end,
      range: asJson({ by: 'time', start: start.toISOString(), end: end.toISOString(), to: Number(backfill.position) }),
    })
    await tables.batch_export_runs.insert(run)
    await tables.batch_export_backfills.update({ id }, { next_start: end, last_updated_at: at })
  })
}
