import type { ProjectRecord, QueryRun } from '../../accounts/records.ts'
import type { App } from '../app.ts'
import { jsonText } from '../json-text.ts'
import { type QueryRequest, queryFailure } from './request.ts'
import { cachedAnswer, isCachedKind, newAnswer } from './result-cache.ts'
import type { Work } from './runs.ts'
import { peek, type StreamHooks, streamed } from './streamed.ts'

// What becomes of one request: an answer that is there already, one that is waited for, or a status to come back to.

export type Outcome = { readonly answer: object } | { readonly status: QueryRun }

/** Who asks: aborts when they leave, and whether it is a key. */
export interface Asker {
  readonly signal: AbortSignal
  readonly isKey: boolean
}

export async function ask(app: App, project: ProjectRecord, request: QueryRequest, caller: Asker): Promise<Outcome> {
  const { query, refresh, client_query_id, wantsStatus } = request
  const data = await app.project(project.id)
  const isCached = isCachedKind(query.kind)
  const key = app.results.keyOf(query, project)

  const compute: Work = async (signal, working) => {
    const { position } = data.progress
    const computedAt = app.clock()
    try {
      const answer = await app.admission.run(key, query.kind, signal, () =>
        data.query(query, { signal, rows: app.rows(), progress: working?.progress, timeoutSeconds: working?.seconds }),
      )
      if (!isCached) return answer
      const entry = { key, answer, text: jsonText(answer), position, computedAt, timezone: project.timezone }
      app.results.keep(entry)
      return newAnswer(entry)
    } catch (error) {
      throw queryFailure(error, query.kind)
    }
  }
  const takePlace = () => (caller.isKey ? app.concurrency.take(project.id) : () => {})
  const wait = async () => {
    const give = takePlace()
    const attended = app.queries.attend(project.id, client_query_id, caller.signal)
    try {
      return { answer: await compute(attended.signal) }
    } finally {
      attended.end()
      give()
    }
  }
  const start = async (isForced: boolean) => {
    const give = takePlace()
    let isRunning = false
    const work: Work = (signal, working) => {
      isRunning = true
      return compute(signal, working).finally(give)
    }
    try {
      return { status: await app.queries.start(project.id, client_query_id, isForced, work) }
    } finally {
      if (!isRunning) give() // it was known already, or could not begin
    }
  }

  if (refresh === 'force_blocking') return wait()
  if (refresh === 'force_async') return start(true)
  const isLazy = refresh === 'lazy_async'
  const known = isCached ? app.results.find(key, query, data.progress.position, app.clock(), isLazy) : undefined
  if (known?.isFresh) {
    const answer = cachedAnswer(known.entry)
    return wantsStatus ? { status: await app.queries.start(project.id, client_query_id, false, async () => answer) } : { answer }
  }
  if (refresh === 'blocking' || (refresh === 'async_except_on_cache_miss' && !known)) return wait()
  return start(false)
}

export interface StreamedRequest extends Pick<StreamHooks, 'breakOff' | 'patience'> {
  readonly form: 'csv' | 'arrow'
}

/** The rows of a query as a stream; null where its answer is no list of rows. */
export async function askRows(app: App, project: ProjectRecord, request: QueryRequest, caller: Asker, wanted: StreamedRequest) {
  const { query, client_query_id } = request
  const data = await app.project(project.id)
  const give = caller.isKey ? app.concurrency.take(project.id) : () => {}
  const attended = app.queries.attend(project.id, client_query_id, caller.signal)
  const end = () => {
    attended.end()
    give()
  }
  try {
    const begin = async () => {
      const answer = await data.queryRows(query, { signal: attended.signal, rows: app.rows() })
      return answer && peek(answer)
    }
    const peeked = await app.admission.run(app.results.keyOf(query, project), query.kind, attended.signal, begin)
    if (!peeked) end()
    return peeked && streamed(peeked, wanted.form, { ...wanted, stop: attended.stop, ended: end })
  } catch (error) {
    end()
    throw queryFailure(error, query.kind)
  }
}
