import type { Accounts } from '../accounts/accounts.ts'
import type { ProjectRecord, QueryRun } from '../accounts/records.ts'
import { jsonText } from '../lib/json-text.ts'
import type { Progress } from '../lib/progress.ts'
import { createAdmission } from './admission.ts'
import { createQueryRuns, presentRun, type Work } from './query-runs.ts'
import type { RefreshMode } from './refresh.ts'
import { cachedAnswer, createResultCache, isCachedKind, newAnswer } from './result-cache.ts'

// What becomes of one request, over HTTP or from the library: an answer that is there already, one that is waited for, or a status to come back to.

export interface Asked {
  readonly query: Readonly<Record<string, unknown>> & { readonly kind: string }
  readonly refresh: RefreshMode
  readonly client_query_id: string | null
  /** There is always a status to poll, also when the answer is there already. */
  readonly wantsStatus: boolean
}

/** Who asks. */
export interface Asker {
  /** Aborts when they leave. */
  readonly signal?: AbortSignal | undefined
  /** Takes one of the places that are counted for them, or refuses; what is answered gives it back. */
  takePlace?(): () => void
}

export interface Computing {
  readonly signal: AbortSignal
  readonly progress: Progress | undefined
  readonly timeoutSeconds: number | undefined
}

/** The project that is asked. */
export interface Source {
  readonly project: ProjectRecord
  /** How far its log is. */
  readonly position: () => number
  compute(query: Asked['query'], options: Computing): Promise<object>
}

export type Outcome = { readonly answer: object } | { readonly status: QueryRun }

export const createAsking = (accounts: Accounts, places: number) => {
  const { clock } = accounts.context
  const results = createResultCache()
  const admission = createAdmission(places)
  const runs = createQueryRuns(accounts)

  return {
    results,
    admission,
    runs,

    async ask(source: Source, { query, refresh, client_query_id, wantsStatus }: Asked, asker: Asker): Promise<Outcome> {
      const { project } = source
      const isCached = isCachedKind(query.kind)
      const key = results.keyOf(query, project)

      const compute: Work = async (signal, begin, working) => {
        const position = source.position()
        const computedAt = clock()
        const answer = await admission.run(key, query.kind, signal, () => {
          begin()
          return source.compute(query, { signal, progress: working?.progress, timeoutSeconds: working?.seconds })
        })
        if (!isCached) return answer
        const entry = { key, answer, text: jsonText(answer), position, computedAt, timezone: project.timezone }
        results.keep(entry)
        return newAnswer(entry)
      }
      const takePlace = () => asker.takePlace?.() ?? (() => {})
      const wait = async () => {
        const give = takePlace()
        const attended = runs.attend(project.id, client_query_id, asker.signal)
        try {
          return { answer: await compute(attended.signal, attended.begin) }
        } finally {
          attended.end()
          give()
        }
      }
      const start = async (isForced: boolean) => {
        const give = takePlace()
        let isRunning = false
        const work: Work = (signal, begin, working) => {
          isRunning = true
          return compute(signal, begin, working).finally(give)
        }
        try {
          return { status: await runs.start(project.id, client_query_id, isForced, work) }
        } finally {
          if (!isRunning) give() // it was known already, or could not begin
        }
      }

      if (refresh === 'force_blocking') return wait()
      if (refresh === 'force_async') return start(true)
      const isLazy = refresh === 'lazy_async'
      const known = isCached ? results.find(key, query, source.position(), clock(), isLazy) : undefined
      if (known?.isFresh) {
        const answer = cachedAnswer(known.entry)
        return wantsStatus ? { status: await runs.start(project.id, client_query_id, false, async () => answer) } : { answer }
      }
      if (refresh === 'blocking' || (refresh === 'async_except_on_cache_miss' && !known)) return wait()
      return start(false)
    },
  }
}
export type Asking = ReturnType<typeof createAsking>

/** The body that stands for a query in the background: the bare status, and the same again under the name that polling answers it by. */
export const statusAnswer = (run: QueryRun): object => {
  const status = presentRun(run)
  return { ...status, query_status: status }
}
