import type { AccountTables, BatchExport, BatchExportRun } from '../../accounts/records.ts'
import type { Due, Kind, Writing } from '../../jobs/kind.ts'
import type { Retry } from '../../jobs/retry.ts'
import { createRunner } from '../../jobs/runner.ts'
import { addLog } from '../logs.ts'
import { activeStates, isActive, scheduleLane } from '../records.ts'
import { unseal, withoutSecrets } from '../settings.ts'
import { nextBackfillRun } from './backfilling.ts'
import { cutNext } from './cutting.ts'
import { failureOf, type RunFailure } from './failure.ts'
import { type RunProgress, runExport } from './run.ts'
import { runInputs } from './run-inputs.ts'
import type { SchedulerParts } from './scheduler-parts.ts'
import { sweep } from './sweep.ts'

// Runs of batch exports as due work: intervals that are complete become runs, and the first run of each lane is due.

const retry: Retry = { attempts: 10, firstMs: 30_000, growth: 2, longestMs: 30 * 60_000, jitter: 0.25 }
/** Failed runs in a row after which an export is paused. */
export const mostFailedRuns = 3

const largestCount = 2_147_483_647

const progressOf = ({ total, rows, bytes, cursor }: RunProgress) => ({
  records_total_count: Math.min(total, largestCount),
  records_completed: Math.min(rows, largestCount),
  bytes_exported: bytes,
  cursor: cursor === null ? null : String(cursor),
})

const noteBackfill = async (tables: AccountTables, run: BatchExportRun, at: Date, hasFailed: boolean): Promise<void> => {
  const backfill = run.backfill_id === null ? undefined : await tables.batch_export_backfills.first({ id: run.backfill_id })
  if (!backfill || run.lane !== run.backfill_id) return
  await tables.batch_export_backfills.update(
    { id: backfill.id },
    {
      finished_runs: backfill.finished_runs + 1,
      last_updated_at: at,
      ...(hasFailed && { status: 'Failed', next_start: null, finished_at: at }),
    },
  )
}

/** The results of a run. */
const createResults = ({ context, box }: SchedulerParts) => {
  const { clock } = context

  /** Changes a run unless it was cancelled. */
  const change =
    (run: BatchExportRun, work: Writing<Partial<BatchExportRun>>): Writing<boolean> =>
    async (tables) => {
      const { id, attempt } = run
      const current = await tables.batch_export_runs.first({ id, attempt })
      if (!current || !isActive(current)) return false
      await tables.batch_export_runs.update({ id }, { last_updated_at: clock(), ...(await work(tables)) })
      return true
    }

  const pauseAfterFailures = async (tables: AccountTables, record: BatchExport, message: string): Promise<void> => {
    const { id } = record
    const failed = record.failed_runs + 1
    const isPaused = failed >= mostFailedRuns && !record.paused
    const reason = `Paused after ${failed} failed runs in a row. The last error: ${message}`
    await tables.batch_exports.update(
      { id },
      { failed_runs: failed, ...(isPaused && { paused: true, paused_reason: reason, last_paused_at: clock(), last_updated_at: clock() }) },
    )
    if (isPaused) await addLog(context, tables, record, null, 'ERROR', `${reason} Fix the cause, then unpause the export.`)
  }

  const shownFailure = (record: BatchExport, failure: RunFailure): RunFailure => {
    try {
      return { ...failure, message: withoutSecrets(failure.message, record.destination_type, unseal(record, box)) }
    } catch {
      return failure // without the key nothing was decrypted, and nothing sent
    }
  }

  return {
    progressed: (run: BatchExportRun, progress: RunProgress) => change(run, async () => progressOf(progress)),
    completed: (run: BatchExportRun, record: BatchExport, progress: RunProgress) =>
      change(run, async (tables) => {
        if (run.lane === scheduleLane) await tables.batch_exports.update({ id: record.id }, { failed_runs: 0 })
        await noteBackfill(tables, run, clock(), false)
        await addLog(context, tables, record, run.id, 'INFO', `Exported ${progress.rows} rows, ${progress.bytes} bytes.`)
        return { status: 'Completed', finished_at: clock(), ...progressOf(progress) }
      }),
    failed: (run: BatchExportRun, error: unknown, next: (failures: number) => Date | null) =>
      change(run, async (tables) => {
        const record = (await tables.batch_exports.first({ id: run.batch_export_id }))!
        const { message, isRetryable } = shownFailure(record, failureOf(error))
        const failures = run.failures + 1
        const due_at = isRetryable ? next(failures) : null
        if (due_at) {
          const seconds = Math.round((due_at.getTime() - clock().getTime()) / 1000)
          await addLog(context, tables, record, run.id, 'WARNING', `${message} Retrying in ${seconds} seconds.`)
          return { status: 'Starting', failures, due_at, latest_error: message }
        }
        await addLog(context, tables, record, run.id, 'ERROR', message)
        if (run.lane === scheduleLane) await pauseAfterFailures(tables, record, message)
        await noteBackfill(tables, run, clock(), true)
        return { status: isRetryable ? 'FailedRetryable' : 'Failed', finished_at: clock(), failures, latest_error: message }
      }),
    /** For the next process: it is not the run's fault. */
    released: (run: BatchExportRun) => change(run, async () => ({ status: 'Starting' })),
  }
}

/** One project that cannot be opened must not stop the others. */
const guarded = async ({ report }: SchedulerParts, work: () => Promise<number>): Promise<number> => {
  try {
    return await work()
  } catch (error) {
    report(error)
    return Number.POSITIVE_INFINITY
  }
}

/** Intervals that are complete become runs. Returns when the next one is. */
async function cutAll(parts: SchedulerParts, closing: AbortSignal): Promise<number> {
  const { read } = parts.context.store
  let next = Number.POSITIVE_INFINITY
  for (const record of await read.batch_exports.find({ is_deleted: false, paused: false }))
    if (!closing.aborted) next = Math.min(next, await guarded(parts, () => cutNext(parts, record)))
  for (const backfill of await read.batch_export_backfills.find({ status: 'Running' }))
    if (!closing.aborted) await guarded(parts, () => nextBackfillRun(parts, backfill).then(() => 0))
  return next
}

const runKind = (parts: SchedulerParts): Kind<BatchExportRun> => {
  const { store } = parts.context
  const { read } = store
  const results = createResults(parts)
  return {
    name: 'export run',
    share: { slots: parts.atOnce },
    retry,
    guarantee: 'at least once', // under the key of the run: what it published before is replaced
    async due(_now, closing) {
      if ((await read.batch_exports.count({})) === 0) return { due: [] }
      const next = await cutAll(parts, closing)
      const active = [...(await read.batch_export_runs.find({ status: activeStates }))]
      active.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1))
      const lanes = new Map<string, BatchExportRun>()
      for (const run of active) if (!lanes.has(laneOf(run))) lanes.set(laneOf(run), run)
      return { due: [...lanes.values()].map(dueOf), next }
    },
    async claim(tables, { id }, now) {
      const run = await tables.batch_export_runs.first({ id, status: activeStates })
      // It may have failed since it was found, and rests now.
      if (!run || run.due_at > now || !(await tables.batch_exports.first({ id: run.batch_export_id }))) return null
      const change = { status: 'Running', attempt: run.attempt + 1, last_updated_at: now }
      await tables.batch_export_runs.update({ id }, change)
      return { ...run, ...change }
    },
    async run(run, { signal, record: write }) {
      const record = (await read.batch_exports.first({ id: run.batch_export_id }))!
      const inputs = await runInputs(parts, record, run)
      const onProgress = async (progress: RunProgress) => void (await write(results.progressed(run, progress)))
      const done = await runExport({ ...inputs, signal, onProgress })
      return results.completed(run, record, done)
    },
    failed: async (tables, run, error, next) => void (await results.failed(run, error, next)(tables)),
    released: (tables, run) => results.released(run)(tables),
    isWanted: async ({ id }) => (await read.batch_export_runs.first({ id, status: activeStates })) !== undefined,
    async sweep() {
      for (const record of await read.batch_exports.find({})) await sweep(parts, record).catch(parts.report)
    },
  }
}

const laneOf = ({ batch_export_id, lane }: BatchExportRun) => `${batch_export_id} ${lane}`
/** Two runs with the same key would stage their rows under the same names. */
const dueOf = (run: BatchExportRun): Due<BatchExportRun> => {
  const { key: id, project_id: projectId, batch_export_id: part, due_at, failures } = run
  return { id, projectId, part, at: due_at.getTime(), failures, item: run }
}

export const createScheduler = (parts: SchedulerParts) => {
  const runner = createRunner(parts, [runKind(parts)])
  return Object.assign(runner, {
    stop: (runIds: readonly string[]) => runner.abort((run) => runIds.includes((run as BatchExportRun).id)),
  })
}
export type Scheduler = ReturnType<typeof createScheduler>
