import { mustHold } from '../../../errors/invariants.ts'
import type { BatchExport, BatchExportRun } from '../../accounts/records.ts'
import { activeStates, asJson, cutOf, intervalOf, scheduleLane } from '../records.ts'
import { newRun } from './new-run.ts'
import { nextStep } from './schedule.ts'
import type { SchedulerParts } from './scheduler-parts.ts'

/**
 * Creates the run of the next interval, if the interval is complete and the run before has ended. Returns when there is something to do: a run that ends
 * wakes the scheduler by itself.
 */
export async function cutNext(parts: SchedulerParts, record: BatchExport): Promise<number> {
  const { store, clock } = parts.context
  if (!cutOf(record).isFinal) return findPosition(parts, record)
  const now = clock().getTime()
  const { id, cut_at, start_at, end_at } = record
  const times = { cutAt: cut_at.getTime(), startAt: start_at?.getTime() ?? null, endAt: end_at?.getTime() ?? null }
  const step = nextStep({ id, interval: intervalOf(record), ...times }, now)
  if (step.kind === 'over') return Number.POSITIVE_INFINITY
  if (step.kind === 'wait') return step.until
  if (step.kind === 'skip') {
    const { position } = cutOf(record)
    await update(parts, record, { cut_at: new Date(step.to), cut_position: asJson({ position, isFinal: false }) })
    return now
  }
  const waiting = await store.read.batch_export_runs.first({ batch_export_id: id, lane: scheduleLane, status: activeStates })
  if (waiting) return Number.POSITIVE_INFINITY
  await cut(parts, record, new Date(step.end))
  return now
}

async function findPosition(parts: SchedulerParts, record: BatchExport): Promise<number> {
  const now = parts.context.clock().getTime()
  if (record.cut_at.getTime() > now) return record.cut_at.getTime()
  const rows = await parts.rows(record.project_id)
  if (!rows) return Number.POSITIVE_INFINITY
  const position = await rows.positionAt(record.cut_at, cutOf(record).position)
  await update(parts, record, { cut_position: asJson({ position, isFinal: true }) })
  return now
}

async function cut(parts: SchedulerParts, record: BatchExport, end: Date): Promise<void> {
  const { context } = parts
  const rows = await parts.rows(record.project_id)
  if (!rows) return
  const { position: after } = cutOf(record)
  const to = await rows.positionAt(end, after)
  mustHold('export ranges follow', to >= after, () => ({ export: record.id, after, to }))
  const run = newRun(record, context.clock(), {
    id: context.newId(),
    lane: scheduleLane,
    backfill_id: null,
    key: `${record.id}-${record.cut_at.getTime()}-${end.getTime()}`,
    data_interval_start: record.cut_at,
    data_interval_end: end,
    range: asJson({ by: 'arrival', after, to }),
  })
  await update(parts, record, { cut_at: end, cut_position: asJson({ position: to, isFinal: true }) }, run)
}

/** Only if nothing has moved the cut meanwhile: a request, or another process. */
async function update({ context }: SchedulerParts, record: BatchExport, change: Partial<BatchExport>, run?: BatchExportRun): Promise<void> {
  const { id, cut_at } = record
  await context.store.write(async (tables) => {
    const current = await tables.batch_exports.first({ id, is_deleted: false, paused: false })
    if (!current || current.cut_at.getTime() !== cut_at.getTime()) return
    if (JSON.stringify(current.cut_position) !== JSON.stringify(record.cut_position)) return
    await tables.batch_exports.update({ id }, change)
    if (run) await tables.batch_export_runs.insert(run)
  })
}
