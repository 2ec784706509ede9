import type { Wanted } from '../../engine/admission/admission.ts'
import type { Answer } from '../../engine/admission/answer.ts'
import type { Computed, Computing, Load } from '../../engine/admission/computing.ts'
import { keptFromAt } from '../../engine/backend/keeping.ts'
import type { KeptAnswers } from '../../engine/execution/ports.ts'
import { keptFromText } from '../../language/catalog/removals.ts'
import { rememberText } from '../../lib/text/json-text.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { retentionOf } from '../accounts/projects/project-fields.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import { createObservedQueries, type ObservedQueries } from './observed-queries.ts'
import {
  createQueryRuns,
  type OtherServers,
  type Polled,
  presentRun,
  type QueryRuns,
  runText,
  type Work,
  type Working,
} from './query-runs.ts'
import type { RefreshMode } from './refresh.ts'
import { cachedAnswer, createResultCache, isCachedKind, newAnswer, staleAt } from './result-cache.ts'
import { type Moment, RunningAnswers } from './running-answers.ts'

// Handles one request, over HTTP or from the library: returns a cached answer, waits for a new one, or returns a status to poll.

export interface AskedRequest {
  readonly query: Readonly<Record<string, unknown>> & { readonly kind: string }
  readonly refresh: RefreshMode
  readonly client_query_id: string | null
  /** The caller gets a status to poll, even if the answer exists already. */
  readonly wantsStatus: boolean
  /** The answer is cached whatever the kind of the query: it belongs to something that is saved. */
  readonly isSaved?: boolean
}

/** The caller. */
export interface QueryCaller {
  /** Callers with the same name have one share of the project's execution slots. */
  readonly name?: string
  /** Aborts when the caller leaves. */
  readonly signal?: AbortSignal | undefined
  /** Nobody waits for its answers: the queries of people go first. */
  readonly isBackground?: boolean
  /** Counts one more concurrent query of the caller, or refuses it; the returned function ends it. */
  acquire?(waiting?: WaitingQuery): Promise<() => void>
}

/** A query that may have to give its place to another, as long as nothing of it has run. */
export interface WaitingQuery {
  hasBegun(): boolean
  giveWay(error: Error): void
}

/** The project that the query is for. */
export interface Source {
  readonly project: ProjectRecord
  /** The position of its log. */
  readonly position: () => number
  /** The version of what lies beside the events. */
  readonly attached?: () => string
  compute(query: AskedRequest['query'], options: Computing): Promise<Computed>
}

export type Outcome = { readonly answer: Answer } | { readonly status: Polled }

/** Maximum characters of an id that the client chose. */
export const longestQueryId = 200
/** Time limit of a query with a waiting client. */
export const waitedForSeconds = 60
/** Time limit of a download. */
export const downloadSeconds = 3600
/** The name of callers in this process. */
export const library = 'library'

export interface Asking {
  readonly runs: QueryRuns
  /** The queries that run, and how long those took that have ended. */
  readonly observed: ObservedQueries
  /** Numbers of queued and running statements. */
  load(): Load
  /** The claim of a query for execution slots. */
  wanted(
    project: ProjectRecord,
    query: AskedRequest['query'],
    asker: QueryCaller,
    more?: Pick<Wanted, 'begin' | 'isBackground' | 'seconds'>,
  ): Wanted
  ask(source: Source, asked: AskedRequest, asker: QueryCaller): Promise<Outcome>
  /** The cached answer, however old it is. */
  cached(project: ProjectRecord, query: AskedRequest['query']): Promise<Answer | null>
  /** When the cached answer was computed. */
  cachedAt(project: ProjectRecord, query: AskedRequest['query']): Date | null
}

/** At midnight a project with a data retention has fewer events, without a record of its log. */
const keptText = ({ settings, timezone }: ProjectRecord, now: Date): string =>
  keptFromText(keptFromAt(retentionOf(settings), timezone, now.getTime() * 1000))

export const createAsking = (accounts: Accounts, answers: KeptAnswers, load: () => Load, others: OtherServers | null = null): Asking => {
  const { clock } = accounts.context
  const results = createResultCache()
  const runs = createQueryRuns(accounts, answers, others)
  const running = new RunningAnswers()

  const wanted: Asking['wanted'] = (project, query, { name = library, signal }, more = {}) => {
    const kind = isCachedKind(query.kind) ? `${project.id} ${query.kind}` : null
    const cost = { key: results.keyOf(query, project), kind }
    return { organization: project.organization_id, project: project.id, caller: name, cost, signal, seconds: waitedForSeconds, ...more }
  }

  return {
    runs,
    observed: createObservedQueries(),
    load,
    wanted,

    async ask(source: Source, asked: AskedRequest, asker: QueryCaller): Promise<Outcome> {
      const { query, refresh, client_query_id, wantsStatus } = asked
      const { project } = source
      const isCached = asked.isSaved === true || isCachedKind(query.kind)
      const key = results.keyOf(query, project)

      const kept = () => `${keptText(project, clock())}${source.attached?.() ?? ''}`
      const moment = (): Moment => ({ key, position: source.position(), kept: kept() })

      const compute: Work = async (signal, begin, working) => {
        const about = moment()
        const computedAt = clock()
        const background = working ? { isBackground: true, seconds: working.seconds } : { isBackground: asker.isBackground === true }
        const context = wanted(project, query, { ...asker, signal }, { begin, ...background })
        const computed = () => source.compute(query, { wanted: context, progress: working?.progress })
        if (!isCached) return (await computed()).answer
        const entry = await running.run(about, async () => {
          const { answer, endsAt } = await computed()
          const { length } = await answer.text()
          const stale = staleAt({ endsAt, computedAt }, query)
          return { ...about, answer, length, endsAt, computedAt, staleAt: stale, timezone: project.timezone }
        })
        results.keep(entry)
        return newAnswer(entry)
      }
      const takePlace = async () => {
        const stop = new AbortController()
        const place = { hasBegun: false, stop, give: () => {} }
        const waiting = { hasBegun: () => place.hasBegun, giveWay: (error: Error) => stop.abort(error) }
        place.give = (await asker.acquire?.(waiting)) ?? place.give
        return place
      }
      /** The work of a query that holds a place. */
      const inPlace = (place: Awaited<ReturnType<typeof takePlace>>, signal: AbortSignal, begin: () => void, working?: Working) => {
        const began = () => {
          place.hasBegun = true
          begin()
        }
        return compute(AbortSignal.any([signal, place.stop.signal]), began, working)
      }
      const wait = async () => {
        const place = await takePlace()
        const attended = runs.attend(project.id, client_query_id, asker.signal)
        try {
          const isShared = isCached && refresh !== 'force_blocking'
          // Without a pause where nobody is waited for: those who ask now wait for this one.
          const waiting = isShared ? running.waitFor(moment(), AbortSignal.any([attended.signal, place.stop.signal])) : null
          const found = waiting && (await waiting)
          return { answer: found ? await cachedAnswer(found) : await inPlace(place, attended.signal, attended.begin) }
        } finally {
          attended.end()
          place.give()
        }
      }
      const start = async (isForced: boolean) => {
        const place = await takePlace()
        let isRunning = false
        const work: Work = (signal, begin, working) => {
          isRunning = true
          return inPlace(place, signal, begin, working).finally(place.give)
        }
        try {
          return { status: await runs.start(project.id, client_query_id, key, isForced, work) }
        } finally {
          if (!isRunning) place.give() // the query was running already, or could not start
        }
      }

      if (refresh === 'force_blocking') return wait()
      if (refresh === 'force_async') return start(true)
      const isLazy = refresh === 'lazy_async'
      const known = isCached ? results.find(key, query, { position: source.position(), kept: kept() }, clock(), isLazy) : undefined
      if (known?.isFresh) {
        const answer = await cachedAnswer(known.entry)
        return wantsStatus ? { status: await runs.start(project.id, client_query_id, key, false, async () => answer) } : { answer }
      }
      if (refresh === 'blocking' || (refresh === 'async_except_on_cache_miss' && !known)) return wait()
      return start(false)
    },

    async cached(project, query) {
      const entry = results.entry(results.keyOf(query, project))
      return entry ? cachedAnswer(entry) : null
    },

    cachedAt: (project, query) => results.entry(results.keyOf(query, project))?.computedAt ?? null,
  }
}

/** The answer to an async query. */
export const statusAnswer = (polled: Polled): object => ({ query_status: presentRun(polled) })

/** The same as the body of a response. */
export const statusBody = async (polled: Polled, progress: object | null = null): Promise<object> =>
  rememberText({}, `{"query_status":${await runText(polled, progress)}}`)
