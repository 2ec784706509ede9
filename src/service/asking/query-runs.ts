import { randomUUID } from 'node:crypto'
import { Answer } from '../../engine/admission/answer.ts'
import type { KeptAnswers } from '../../engine/execution/ports.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { Cancels } from '../../lib/flow/cancels.ts'
import { Progress } from '../../lib/flow/progress.ts'
import type { States } from '../../lib/flow/states.ts'
import { maybeTime, time } from '../../lib/time/wire-time.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccountTables, QueryRun } from '../accounts/records.ts'
import { notFound } from '../accounts/refusals.ts'
import { createFinishedRuns } from './finished-runs.ts'

// Async queries. An accepted query is stored before it starts, and always reaches an end: an answer, an error, or, if the
// process dies, the status that it was interrupted.

const keptFor = 10 * 60_000
const progressMs = 1_000
const progressKeptMs = 10_000
const mostSwept = 1_000
/** Time limit of an async query. */
export const longestSeconds = 600

/** The status of running work. Bytes and CPU time are unknown here. */
const progressOf = (progress: Progress, run: QueryRun, now: Date) => ({
  bytes_read: null,
  rows_read: progress.rows.read,
  estimated_rows_total: progress.rows.total,
  time_elapsed: (now.getTime() - run.start_time.getTime()) / 1000,
  active_cpu_time: null,
})

/** The current state of a run, with its answer once it has one. */
export interface Polled {
  readonly run: QueryRun
  readonly answer: Answer | null
}

export type QueryStatus = ReturnType<typeof presentRun>
export const presentRun = ({ run, answer }: Polled, query_progress: object | null = null) => ({
  ...factsOf(run, query_progress),
  results: answer?.object ?? null,
})

/** The JSON of the status. The stored text of the answer is inserted without parsing it. */
export const runText = async ({ run, answer }: Polled, query_progress: object | null = null): Promise<string> =>
  `{"results":${answer ? await answer.text() : null},${JSON.stringify(factsOf(run, query_progress)).slice(1)}`

const factsOf = (run: QueryRun, query_progress: object | null) => ({
  id: run.id,
  team_id: run.project_id,
  query_async: true,
  complete: run.is_complete && !run.is_error, // clients read `error` beside it: a failed query is not complete
  error: run.is_error,
  error_message: run.error_message,
  start_time: time(run.start_time),
  end_time: maybeTime(run.end_time),
  expiration_time: maybeTime(run.expiration_time),
  pickup_time: time(run.start_time),
  task_id: run.task_id,
  labels: null,
  query_progress,
})

/** A status contains the field only in its text. */
const said = ({ attr, detail }: WaymarkError) => (attr === null ? detail : `${attr}: ${detail}`)

/** Runs stored by older versions, and runs of waiting clients, have no query. */
const isOf = (run: QueryRun, queryKey: string) => run.query_key === null || run.query_key === queryKey

/** What async work gets besides its abort signal. */
export interface Working {
  readonly progress: Progress
  readonly seconds: number
}
/** `begin` is called when the first statement gets a slot. Until then the work is queued. */
export type Work = (signal: AbortSignal, begin: () => void, working?: Working) => Promise<Answer>

const ending = new Error('the process is shutting down')
const stoppedByEnd = 'The query was stopped because the server is shutting down.'

/** A query with a waiting client. */
export interface Attended {
  /** Aborts when the caller leaves, or when the query is cancelled by its id. */
  readonly signal: AbortSignal
  readonly begin: () => void
  readonly stop: () => void
  readonly end: () => void
}

interface Active {
  readonly run: QueryRun
  readonly stop: AbortController
  hasBegun: boolean
  readonly progress?: Progress
  /** For an async query: resolves when its end is written. */
  done?: Promise<void>
}

type Outcome = Pick<QueryRun, 'is_error' | 'error_message'> & { readonly text: string | null }

const interrupted = (end_time: Date) => ({
  is_complete: true,
  is_error: true,
  error_message: 'The query was interrupted by a restart.',
  end_time,
  expiration_time: new Date(end_time.getTime() + keptFor),
})
/** Of a server that has ended: the longest query is over. */
const isOverdue = (run: QueryRun, now: Date): boolean =>
  !run.is_complete && now.getTime() - run.start_time.getTime() > 2 * longestSeconds * 1000
const endOverdue = async (tables: AccountTables, now: Date): Promise<void> => {
  for (const run of await tables.query_runs.find({ is_complete: false }))
    if (isOverdue(run, now))
      await tables.query_runs.update({ project_id: run.project_id, id: run.id, task_id: run.task_id }, interrupted(now))
}

/** Where servers on the same accounts tell each other about the queries that they run. */
export interface OtherServers {
  readonly states: States
  readonly cancels: Cancels
}

/** How far a query is, for the other servers. */
const createSharedProgress = ({ states }: OtherServers) => {
  const nameOf = (run: QueryRun) => `progress ${run.task_id}`
  return {
    /** Says at intervals how far it is. Returns what ends it. */
    say(run: QueryRun, now: () => object): () => void {
      const once = () => states.change(nameOf(run), () => ({ state: now(), keptMs: progressKeptMs }))
      const timer = setInterval(() => void once().catch(() => undefined), progressMs).unref() // the next one says it
      return () => clearInterval(timer)
    },
    async of(run: QueryRun): Promise<object | null> {
      let found: object | null = null
      await states.change(nameOf(run), (state) => {
        found = state as object | null
        return null
      })
      return found
    },
  }
}

/** The stored runs, with the answers of those that have ended. */
const createRunRecords = (accounts: Accounts, answers: KeptAnswers) => {
  const { store, clock, report, isShared } = accounts.context
  const kept = createFinishedRuns(store.read, undefined, isShared)
  let hasEnded = false

  const newRun = (projectId: number, id: string, queryKey: string | null): QueryRun => ({
    id,
    project_id: projectId,
    query_key: queryKey,
    task_id: randomUUID(),
    is_complete: false,
    is_error: false,
    error_message: null,
    characters: null,
    start_time: clock(),
    end_time: null,
    expiration_time: null,
  })

  /** Runs left by the last process; of several servers, those that one of them cannot be at work on any more. */
  const recovered = store.write(async (tables) => {
    const end_time = clock()
    if (isShared) return endOverdue(tables, end_time)
    await tables.query_runs.update({ is_complete: false }, interrupted(end_time))
    await answers.keepOnly(await tables.query_runs.find({}))
  })
  recovered.catch((error: unknown) => report('failed to close the interrupted queries', error))

  const stored = async (projectId: number, id: string): Promise<QueryRun | undefined> => {
    await recovered
    const run = await store.read.query_runs.first({ project_id: projectId, id })
    if (run && isShared && isOverdue(run, clock())) return { ...run, ...interrupted(clock()) }
    return run?.expiration_time && run.expiration_time <= clock() ? undefined : run
  }
  const keep = async (run: QueryRun, outcome: Outcome): Promise<Outcome> => {
    try {
      if (outcome.text !== null) await answers.keep(run, outcome.text)
      return outcome
    } catch (error) {
      report('the answer of a query could not be written', error)
      return { is_error: true, error_message: 'The answer could not be written to the disk of the server.', text: null }
    }
  }
  const finish = async (run: QueryRun, worked: Outcome) => {
    const { text, ...outcome } = await keep(run, worked)
    const end_time = clock()
    const expiration_time = new Date(end_time.getTime() + keptFor)
    const change = { ...outcome, characters: text?.length ?? null, is_complete: true, end_time, expiration_time }
    const gone = await store.write(async (tables) => {
      const { project_id, id, task_id } = run
      // A cancelled run has been removed: nothing is updated.
      if (await tables.query_runs.update({ project_id, id, task_id }, change)) return kept.add(tables, { ...run, ...change }, end_time)
      return [run]
    })
    for (const one of gone) await answers.forget(one)
    sweepSoon()
  }

  /** Removes what is kept no longer, in projects that ask nothing more too. */
  const sweep = async (): Promise<void> => {
    const to = clock()
    const over = await store.read.query_runs.find({ is_complete: true }, { between: { expiration_time: { to } }, limit: mostSwept })
    if (over.length === 0) return
    await store.write(async (tables) => {
      for (const { project_id, id, task_id } of over) await tables.query_runs.remove({ project_id, id, task_id })
    })
    kept.forget(over)
    for (const one of over) await answers.forget(one)
  }
  let sweeping: NodeJS.Timeout | null = null
  const sweepSoon = () => {
    sweeping ??= setTimeout(() => {
      sweeping = null
      if (!hasEnded) sweep().catch((error: unknown) => report('failed to remove the answers of old queries', error))
    }, keptFor + 1000).unref()
  }

  const isGone: Pick<QueryRun, 'is_error' | 'error_message'> = {
    is_error: true,
    error_message: 'The answer is no longer stored. Run the query again.',
  }
  const polled = async (run: QueryRun): Promise<Polled> => {
    if (run.characters === null) return { run, answer: null }
    const text = await answers.read(run)
    return text === null ? { run: { ...run, ...isGone }, answer: null } : { run, answer: Answer.ofText(text) }
  }

  /** A finished run is replaced by the next one with its id. */
  const replace = async (projectId: number, id: string, next: QueryRun | null): Promise<void> => {
    const gone = await store.write(async (tables) => {
      const found = await tables.query_runs.find({ project_id: projectId, id })
      await tables.query_runs.remove({ project_id: projectId, id })
      if (next) await tables.query_runs.insert(next)
      return found
    })
    for (const run of gone) await answers.forget(run)
  }

  /** Nothing is removed from now on. */
  const end = () => {
    hasEnded = true
    clearTimeout(sweeping ?? undefined)
  }
  return { newRun, stored, finish, sweep, polled, replace, end }
}

const keyOf = (projectId: number, id: string) => `${projectId} ${id}`

interface CancellingParts {
  readonly accounts: Accounts
  /** The queries of this server. */
  readonly active: Map<string, Active>
  readonly replace: ReturnType<typeof createRunRecords>['replace']
  readonly others: OtherServers | null
}

/** Stops a query, wherever it runs, and removes its status. `onlyWaiting`: one that has begun or ended is left unchanged. */
const createCancelling = ({ accounts, active, replace, others }: CancellingParts) => {
  const { store, report } = accounts.context
  const cancelHere = async (projectId: number, id: string, onlyWaiting: boolean): Promise<void> => {
    const key = keyOf(projectId, id)
    const found = active.get(key)
    if (onlyWaiting && (!found || found.hasBegun)) return
    found?.stop.abort()
    active.delete(key)
    await replace(projectId, id, null)
  }
  /** Another query may have its id by now, and keeps it. */
  const cancelledElsewhere = async (held: Active, onlyWaiting: boolean): Promise<void> => {
    const { project_id, id, task_id } = held.run
    const hasStatus = async () => (await store.read.query_runs.first({ project_id, id, task_id })) !== undefined
    // The other server has removed the status that it meant.
    if (onlyWaiting ? held.hasBegun : held.done && (await hasStatus())) return
    held.stop.abort()
    if (active.get(keyOf(project_id, id)) === held) active.delete(keyOf(project_id, id))
    if (onlyWaiting) await store.write((tables) => tables.query_runs.remove({ project_id, id, task_id }))
  }
  others?.cancels.listen((project, isMeant, isOnlyWaiting) => {
    for (const one of active.values())
      if (one.run.project_id === project && isMeant(one.run.id))
        cancelledElsewhere(one, isOnlyWaiting).catch((error: unknown) => report('failed to cancel a query', error))
  })
  return async (projectId: number, id: string, onlyWaiting = false): Promise<void> => {
    const isHere = active.has(keyOf(projectId, id))
    await cancelHere(projectId, id, onlyWaiting)
    if (!isHere) await others?.cancels.tell(projectId, id, onlyWaiting)
  }
}

export const createQueryRuns = (accounts: Accounts, answers: KeptAnswers, others: OtherServers | null = null) => {
  const { clock, report } = accounts.context
  const { newRun, stored, finish, sweep, polled, replace, end } = createRunRecords(accounts, answers)
  const active = new Map<string, Active>()
  const shared = others && createSharedProgress(others)
  const cancel = createCancelling({ accounts, active, replace, others })
  let isEnding = false
  const begin = (held: Active) => {
    held.hasBegun = true
  }

  const find = async (projectId: number, id: string): Promise<QueryRun | undefined> => {
    const running = active.get(keyOf(projectId, id))
    return running ? running.run : stored(projectId, id)
  }

  return {
    sweep,

    /** A known run is not started again, unless it is forced or was for another query; also when both arrive at the same time. */
    async start(projectId: number, wantedId: string | null, queryKey: string, isForced: boolean, work: Work): Promise<Polled> {
      if (isEnding) throw new WaymarkError('stopping', {})
      const id = wantedId ?? randomUUID().replaceAll('-', '')
      const key = keyOf(projectId, id)
      const known = isForced ? undefined : await find(projectId, id)
      const running = active.get(key)
      const same = running?.run ?? known
      if (!isForced && same && isOf(same, queryKey)) return polled(same)
      running?.stop.abort()
      const run = newRun(projectId, id, queryKey)
      const stop = new AbortController()
      const progress = new Progress()
      const isWritten = replace(projectId, id, run)
      const outcome = async (): Promise<Outcome> => {
        try {
          const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longestSeconds * 1000 + 5000)])
          const answer = await work(signal, () => begin(held), { progress, seconds: longestSeconds })
          return { is_error: false, error_message: null, text: await answer.text() }
        } catch (error) {
          const failed = (error_message: string) => ({ is_error: true, error_message, text: null })
          if (stop.signal.reason === ending) return failed(stoppedByEnd)
          if (error instanceof WaymarkError) return failed(said(error))
          report('an async query failed', error)
          return failed('The query failed.')
        }
      }
      const whole = async () => {
        const said = shared?.say(run, () => progressOf(progress, run, clock()))
        try {
          await isWritten
          await finish(run, await outcome()).catch((error: unknown) => report('failed to store the result of a query', error))
        } finally {
          said?.()
          if (active.get(key) === held) active.delete(key)
        }
      }
      const held: Active = { run, stop, progress, hasBegun: false }
      active.set(key, held)
      held.done = whole().catch(() => undefined) // the caller gets the error
      await isWritten
      return { run, answer: null }
    },

    async poll(projectId: number, id: string): Promise<Polled> {
      const run = await find(projectId, id)
      if (!run) throw notFound(`Query ${id} not found for team ${projectId}`)
      return polled(run)
    },

    /** Its progress; null when it is not running. */
    async progress({ run }: Polled): Promise<object | null> {
      const found = active.get(keyOf(run.project_id, run.id))
      if (found?.progress && found.run === run) return progressOf(found.progress, run, clock())
      return run.is_complete ? null : ((await shared?.of(run)) ?? null)
    },

    cancel,

    /** Queries whose callers wait, so that they too can be cancelled by the id the client gave them. */
    attend(projectId: number, id: string | null, left?: AbortSignal): Attended {
      const stop = new AbortController()
      const signal = left ? AbortSignal.any([stop.signal, left]) : stop.signal
      const key = keyOf(projectId, id ?? '')
      if (id === null || active.has(key)) return { signal, begin: () => {}, stop: () => stop.abort(), end: () => {} }
      const held: Active = { run: newRun(projectId, id, null), stop, hasBegun: false }
      active.set(key, held)
      return {
        signal,
        begin: () => begin(held),
        stop: () => stop.abort(),
        end: () => {
          if (active.get(key) === held) active.delete(key)
        },
      }
    },

    /** Shutdown: waits for running async queries, then cancels the rest, and returns when every end is written. */
    async drain(withinMs: number): Promise<void> {
      isEnding = true
      end()
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
