import type { AccountTables, BatchExport, BatchExportRun } from '../accounts/records.ts'
import { isFault } from '../errors/faults.ts'
import { nextBackfillRun } from './backfilling.ts'
import { cutNext } from './cutting.ts'
import { failureOf, type RunFailure } from './failure.ts'
import { addLog } from './logs.ts'
import { activeStates, scheduleLane } from './records.ts'
import { type RunProgress, runExport } from './run.ts'
import { runInputs } from './run-inputs.ts'
import { mostAttempts, retryWait } from './schedule.ts'
import type { SchedulerParts } from './scheduler-parts.ts'
import { unseal, withoutSecrets } from './settings.ts'
import { sweep } from './sweep.ts'

// Executes what is stored: cuts intervals that are complete, and runs what is due. All state is in the tables, so any process that has them can go on.

/** A process that has not renewed a lease for this long has ended. */
const leaseMs = 120_000
const renewMs = 20_000
/** Failed runs in a row after which an export is paused. */
export const mostFailedRuns = 3

const sweepEveryMs = 86_400_000

const largestCount = 2_147_483_647

export const createScheduler = (parts: SchedulerParts) => {
  const { context, owner, report } = parts
  const { store } = context
  const running = new Map<string, { readonly run: BatchExportRun; readonly stop: AbortController; readonly done: Promise<void> }>()
  let isClosed = false
  let sweptAt = Number.NEGATIVE_INFINITY
  let ticking: Promise<number> = Promise.resolve(0)

  const now = () => context.clock()
  const lease = () => new Date(now().getTime() + leaseMs)
  const isFree = (run: BatchExportRun): boolean =>
    run.lease_owner === null || run.lease_owner === owner || parts.isAlone || run.lease_until!.getTime() <= now().getTime()

  /** Takes the lease; null if another process was faster, or the run has ended. */
  const claim = (id: string): Promise<BatchExportRun | null> =>
    store.write(async (tables) => {
      const run = await tables.batch_export_runs.first({ id })
      if (!run || !activeStates.includes(run.status) || !isFree(run)) return null
      const change = {
        status: 'Running',
        attempt: run.attempt + 1,
        lease_owner: owner,
        lease_until: lease(),
        last_updated_at: now(),
      }
      await tables.batch_export_runs.update({ id }, change)
      return { ...run, ...change }
    })

  /** Changes a run while this process has its lease. False: it was cancelled, or another process has it. */
  const change = (run: BatchExportRun, work: (tables: AccountTables) => Promise<Partial<BatchExportRun>>): Promise<boolean> =>
    store.write(async (tables) => {
      const { id, attempt } = run
      const current = await tables.batch_export_runs.first({ id, lease_owner: owner, attempt })
      if (!current || !activeStates.includes(current.status)) return false
      await tables.batch_export_runs.update({ id }, { last_updated_at: now(), ...(await work(tables)) })
      return true
    })

  const noteProgress = async (run: BatchExportRun, { total, rows, bytes, cursor }: RunProgress, stop: AbortController): Promise<void> => {
    const isOurs = await change(run, async () => ({
      records_total_count: Math.min(total, largestCount),
      records_completed: Math.min(rows, largestCount),
      bytes_exported: bytes,
      cursor: cursor === null ? null : String(cursor),
      lease_until: lease(),
    }))
    if (!isOurs) stop.abort()
  }

  const finished = (status: string) => ({ status, finished_at: now(), lease_owner: null, lease_until: null })

  const noteBackfill = async (tables: AccountTables, run: BatchExportRun, hasFailed: boolean): Promise<void> => {
    const backfill = run.backfill_id === null ? undefined : await tables.batch_export_backfills.first({ id: run.backfill_id })
    if (!backfill || run.lane !== run.backfill_id) return
    const at = now()
    await tables.batch_export_backfills.update(
      { id: backfill.id },
      {
        finished_runs: backfill.finished_runs + 1,
        last_updated_at: at,
        ...(hasFailed && { status: 'Failed', next_start: null, finished_at: at }),
      },
    )
  }

  const complete = (run: BatchExportRun, record: BatchExport, { total, rows, bytes, cursor }: RunProgress): Promise<boolean> =>
    change(run, async (tables) => {
      if (run.lane === scheduleLane) await tables.batch_exports.update({ id: record.id }, { failed_runs: 0 })
      await noteBackfill(tables, run, false)
      await addLog(context, tables, record, run.id, 'INFO', `Exported ${rows} rows, ${bytes} bytes.`)
      return {
        ...finished('Completed'),
        records_total_count: Math.min(total, largestCount),
        records_completed: Math.min(rows, largestCount),
        bytes_exported: bytes,
        cursor: cursor === null ? null : String(cursor),
      }
    })

  const pauseAfterFailures = async (tables: AccountTables, { id }: BatchExport, message: string): Promise<void> => {
    const record = await tables.batch_exports.first({ id })
    if (!record) return
    const failed = record.failed_runs + 1
    const isPaused = failed >= mostFailedRuns && !record.paused
    const reason = `Paused after ${failed} failed runs in a row. The last error: ${message}`
    await tables.batch_exports.update(
      { id },
      { failed_runs: failed, ...(isPaused && { paused: true, paused_reason: reason, last_paused_at: now(), last_updated_at: now() }) },
    )
    if (isPaused) await addLog(context, tables, record, null, 'ERROR', `${reason} Fix the cause, then unpause the export.`)
  }

  const fail = (run: BatchExportRun, record: BatchExport, { message, isRetryable }: RunFailure): Promise<boolean> =>
    change(run, async (tables) => {
      const failures = run.failures + 1
      if (isRetryable && failures < mostAttempts) {
        const wait = retryWait(failures)
        await addLog(context, tables, record, run.id, 'WARNING', `${message} Retrying in ${Math.round(wait / 1000)} seconds.`)
        const due_at = new Date(now().getTime() + wait)
        return { status: 'Starting', failures, due_at, latest_error: message, lease_owner: null, lease_until: null }
      }
      await addLog(context, tables, record, run.id, 'ERROR', message)
      if (run.lane === scheduleLane) await pauseAfterFailures(tables, record, message)
      await noteBackfill(tables, run, true)
      return { ...finished(isRetryable ? 'FailedRetryable' : 'Failed'), failures, latest_error: message }
    })

  const shownFailure = (record: BatchExport, failure: RunFailure): RunFailure => {
    try {
      return { ...failure, message: withoutSecrets(failure.message, record.destination_type, unseal(record, parts.box)) }
    } catch {
      return failure // without the key nothing was decrypted, and nothing sent
    }
  }

  /** For the next process: it is not the run's fault. */
  const release = (run: BatchExportRun): Promise<boolean> =>
    change(run, async () => ({ status: 'Starting', lease_owner: null, lease_until: null }))

  const execute = async (id: string, stop: AbortController): Promise<void> => {
    const run = await claim(id)
    if (!run) return
    const record = await store.read.batch_exports.first({ id: run.batch_export_id })
    if (!record) return
    const renewing = setInterval(() => {
      change(run, async () => ({ lease_until: lease() })).then((isOurs) => isOurs || stop.abort(), report)
    }, renewMs)
    renewing.unref()
    try {
      const inputs = await runInputs(parts, record, run)
      const { signal } = stop
      const done = await runExport({ ...inputs, signal, onProgress: (progress) => noteProgress(run, progress, stop) })
      await complete(run, record, done)
    } catch (error) {
      if (isFault(error)) report(error)
      if (isClosed) await release(run)
      else if (!stop.signal.aborted) await fail(run, record, shownFailure(record, failureOf(error)))
    } finally {
      clearInterval(renewing)
    }
  }

  const start = (run: BatchExportRun): void => {
    const { id } = run
    const stop = new AbortController()
    const done = execute(id, stop)
      .catch(report)
      .finally(() => {
        running.delete(id)
        parts.onRunEnd()
      })
    running.set(id, { run, stop, done })
  }

  /** The first run of each lane, oldest first. */
  const dueRuns = async (): Promise<{ readonly due: readonly BatchExportRun[]; readonly next: number }> => {
    const active = [...(await store.read.batch_export_runs.find({ status: activeStates }))]
    active.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1))
    const lanes = new Set<string>()
    const due: BatchExportRun[] = []
    let next = Number.POSITIVE_INFINITY
    for (const run of active) {
      const lane = `${run.batch_export_id} ${run.lane}`
      if (lanes.has(lane)) continue
      lanes.add(lane)
      if (running.has(run.id)) continue
      const at = Math.max(run.due_at.getTime(), isFree(run) ? 0 : run.lease_until!.getTime())
      if (at <= now().getTime()) due.push(run)
      else next = Math.min(next, at)
    }
    return { due, next }
  }

  /** Those of exports without a run in progress, then those that have failed least: destinations that do not answer must not keep the others waiting. */
  const firstOf = (due: readonly BatchExportRun[]): BatchExportRun | undefined => {
    const inProgress = ({ batch_export_id }: BatchExportRun) =>
      [...running.values()].filter(({ run }) => run.batch_export_id === batch_export_id).length
    // Two backfills of the same range have the same keys: at the same time they would stage their rows under the same names.
    const keys = new Set([...running.values()].map(({ run }) => run.key))
    const waiting = due.filter(({ id, key }) => !running.has(id) && !keys.has(key))
    return waiting.sort((a, b) => inProgress(a) - inProgress(b) || a.failures - b.failures)[0]
  }

  /** Intervals that are complete become runs. Returns when the next one is. */
  const cutAll = async (): Promise<number> => {
    let next = Number.POSITIVE_INFINITY
    for (const record of await store.read.batch_exports.find({ is_deleted: false, paused: false })) {
      if (isClosed) break
      next = Math.min(next, await guarded(() => cutNext(parts, record)))
    }
    for (const backfill of await store.read.batch_export_backfills.find({ status: 'Running' })) {
      if (isClosed) break
      await guarded(async () => {
        await nextBackfillRun(parts, backfill)
        return 0
      })
    }
    return next
  }

  /** One project that cannot be opened must not stop the others. */
  const guarded = async (work: () => Promise<number>): Promise<number> => {
    try {
      return await work()
    } catch (error) {
      report(error)
      return Number.POSITIVE_INFINITY
    }
  }

  /** Once a day, and when the process begins. */
  const sweepAll = async (): Promise<void> => {
    if (Math.abs(now().getTime() - sweptAt) < sweepEveryMs) return
    sweptAt = now().getTime()
    for (const record of await store.read.batch_exports.find({})) await sweep(parts, record).catch(report)
  }

  const tickOnce = async (): Promise<number> => {
    if (isClosed || (await store.read.batch_exports.count({})) === 0) return Number.POSITIVE_INFINITY
    await sweepAll()
    const nextCut = await cutAll()
    const { due, next } = await dueRuns()
    for (let first = firstOf(due); first && running.size < parts.atOnce && !isClosed; first = firstOf(due)) start(first)
    return Math.min(nextCut, next)
  }

  return {
    /** Does what is due, without waiting for runs. Returns the time of the next work that is known. */
    tick(): Promise<number> {
      ticking = ticking.then(tickOnce, tickOnce)
      return ticking
    },
    /** Waits for the runs that are being executed. */
    async settled(): Promise<void> {
      await Promise.all([...running.values()].map(({ done }) => done))
    },
    stop(runIds: readonly string[]): void {
      for (const id of runIds) running.get(id)?.stop.abort()
    },
    /** Runs are stopped; the next process starts them again. */
    async close(): Promise<void> {
      isClosed = true
      await ticking.catch(() => undefined)
      for (const { stop } of running.values()) stop.abort()
      await this.settled()
    },
    get running(): number {
      return running.size
    },
  }
}
export type Scheduler = ReturnType<typeof createScheduler>
