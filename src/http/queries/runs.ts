import { randomUUID } from 'node:crypto'
import type { Accounts } from '../../accounts/accounts.ts'
import type { QueryRun } from '../../accounts/records.ts'
import type { Json } from '../../accounts/store.ts'
import { Progress } from '../../lib/progress.ts'
import { failures, knownFailure } from '../errors.ts'
import { jsonText } from '../json-text.ts'
import { maybeTime, time } from '../present.ts'

// Queries in the background. What was accepted is written down before it starts and reaches an end whatever happens: an answer, an error, or, when the
// process dies under it, the word that it was interrupted.

const keptFor = 10 * 60_000
const longestSeconds = 600

/** What a status says of work that goes on. Bytes and processor time are not known here. */
const progressOf = ({ progress }: Working, run: QueryRun, now: Date) => ({
  bytes_read: null,
  rows_read: progress.rows.read,
  estimated_rows_total: progress.rows.total,
  time_elapsed: (now.getTime() - run.start_time.getTime()) / 1000,
  active_cpu_time: null,
})

export const present = (run: QueryRun, query_progress: object | null = null) => ({
  id: run.id,
  team_id: run.project_id,
  query_async: true,
  complete: run.is_complete,
  error: run.is_error,
  error_message: run.error_message,
  results: run.results,
  start_time: time(run.start_time),
  end_time: maybeTime(run.end_time),
  expiration_time: maybeTime(run.expiration_time),
  pickup_time: time(run.start_time),
  task_id: run.task_id,
  labels: null,
  query_progress,
})

interface Working {
  readonly progress: Progress
  readonly seconds: number
}
export type Work = (signal: AbortSignal, working?: Working) => Promise<object>

const ending = new Error('the process is about to end')
const stoppedByEnd = 'The query was stopped because the server was stopping.'

/** A query somebody waits for. */
export interface Attended {
  /** Aborts when the caller leaves, or when somebody cancels it by its id. */
  readonly signal: AbortSignal
  readonly stop: () => void
  readonly end: () => void
}

export const createQueryRuns = (accounts: Accounts) => {
  const { store, clock, report } = accounts.context
  interface Active {
    readonly run: QueryRun
    readonly stop: AbortController
    readonly working?: Working
    /** In the background: when its end is written. */
    readonly done?: Promise<void>
  }
  const active = new Map<string, Active>()
  let isEnding = false
  const place = (projectId: number, id: string) => `${projectId} ${id}`

  const newRun = (projectId: number, id: string): QueryRun => ({
    id,
    project_id: projectId,
    task_id: randomUUID(),
    is_complete: false,
    is_error: false,
    error_message: null,
    results: null,
    start_time: clock(),
    end_time: null,
    expiration_time: null,
  })

  /** Those that the last process left behind. */
  const recovered = store.write(async (tables) => {
    const end_time = clock()
    const change = { is_complete: true, is_error: true, error_message: 'The query was interrupted by a restart.', end_time }
    await tables.query_runs.update({ is_complete: false }, { ...change, expiration_time: new Date(end_time.getTime() + keptFor) })
  })
  recovered.catch((error: unknown) => report('interrupted queries could not be closed', error))

  const find = async (projectId: number, id: string): Promise<QueryRun | undefined> => {
    const running = active.get(place(projectId, id))
    if (running) return running.run
    await recovered
    const run = await store.read.query_runs.first({ project_id: projectId, id })
    return run?.expiration_time && run.expiration_time <= clock() ? undefined : run
  }

  const finish = async (run: QueryRun, outcome: Pick<QueryRun, 'is_error' | 'error_message' | 'results'>) => {
    const end_time = clock()
    const change = { ...outcome, is_complete: true, end_time, expiration_time: new Date(end_time.getTime() + keptFor) }
    // A cancelled run is no longer there: nothing is updated.
    await store.write(async (tables) => {
      await tables.query_runs.update({ project_id: run.project_id, id: run.id, task_id: run.task_id }, change)
      for (const old of await tables.query_runs.find({ project_id: run.project_id, is_complete: true }))
        if (old.expiration_time && old.expiration_time <= end_time)
          await tables.query_runs.remove({ project_id: run.project_id, id: old.id })
    })
  }

  return {
    find,

    async start(projectId: number, wantedId: string | null, isForced: boolean, work: Work): Promise<QueryRun> {
      if (isEnding) throw failures.unready('The server is stopping.')
      const id = wantedId ?? randomUUID().replaceAll('-', '')
      const known = await find(projectId, id)
      if (known && !isForced) return known
      active.get(place(projectId, id))?.stop.abort()
      const run = newRun(projectId, id)
      await store.write(async (tables) => {
        await tables.query_runs.remove({ project_id: projectId, id })
        await tables.query_runs.insert(run)
      })
      const stop = new AbortController()
      const working: Working = { progress: new Progress(), seconds: longestSeconds }
      const done = work(AbortSignal.any([stop.signal, AbortSignal.timeout(longestSeconds * 1000 + 5000)]), working)
        .then(
          (answer) => ({ is_error: false, error_message: null, results: JSON.parse(jsonText(answer)) as Json }),
          (error: unknown) => {
            if (stop.signal.reason === ending) return { is_error: true, error_message: stoppedByEnd, results: null }
            const failure = knownFailure(error)
            if (!failure) report('a query in the background failed', error)
            return { is_error: true, error_message: failure?.message ?? 'The query failed.', results: null }
          },
        )
        .then((outcome) => finish(run, outcome))
        .catch((error: unknown) => report('the end of a query could not be written', error))
        .finally(() => {
          if (active.get(place(projectId, id))?.run === run) active.delete(place(projectId, id))
        })
      active.set(place(projectId, id), { run, stop, working, done })
      return run
    },

    async poll(projectId: number, id: string): Promise<QueryRun> {
      const run = await find(projectId, id)
      if (!run) throw failures.notFound(`Query ${id} not found for team ${projectId}`)
      return run
    },

    /** How far it is; null when it does not work now. */
    progress(run: QueryRun): object | null {
      const found = active.get(place(run.project_id, run.id))
      return found?.working && found.run === run ? progressOf(found.working, run, clock()) : null
    },

    /** Stops what runs and forgets the status. */
    async cancel(projectId: number, id: string): Promise<void> {
      active.get(place(projectId, id))?.stop.abort()
      active.delete(place(projectId, id))
      await store.write((tables) => tables.query_runs.remove({ project_id: projectId, id }))
    },

    /** Queries whose callers wait, so that they too can be cancelled by the id the client gave them. */
    attend(projectId: number, id: string | null, left: AbortSignal): Attended {
      const stop = new AbortController()
      const signal = AbortSignal.any([stop.signal, left])
      const key = place(projectId, id ?? '')
      if (id === null || active.has(key)) return { signal, stop: () => stop.abort(), end: () => {} }
      const run = newRun(projectId, id)
      active.set(key, { run, stop })
      return {
        signal,
        stop: () => stop.abort(),
        end: () => {
          if (active.get(key)?.run === run) active.delete(key)
        },
      }
    },

    /** The process is about to end: waits for what runs in the background, then stops the rest, and returns when every end is written. */
    async drain(withinMs: number): Promise<void> {
      isEnding = true
      const left = () => [...active.values()].flatMap(({ done }) => done ?? [])
      let timer: NodeJS.Timeout | undefined
      await Promise.race([
        Promise.all(left()),
        new Promise((late) => {
          timer = setTimeout(late, withinMs)
        }),
      ])
      clearTimeout(timer)
      for (const { stop } of active.values()) stop.abort(ending)
      await Promise.all(left())
    },
  }
}
export type QueryRuns = ReturnType<typeof createQueryRuns>
