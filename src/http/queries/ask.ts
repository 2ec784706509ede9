import type { ProjectRecord } from '../../accounts/records.ts'
import type { Outcome, QueryCaller } from '../../execution/asking/asking.ts'
import type { App } from '../app.ts'
import type { ProjectVisit } from '../resource.ts'
import { queryCallerOf } from './query-caller.ts'
import type { QueryRequest } from './request.ts'
import { peek, type StreamHooks, streamed } from './streamed.ts'

/** An answer, or the status of a query in the background. */
export async function ask(app: App, project: ProjectRecord, request: QueryRequest, asker: QueryCaller): Promise<Outcome> {
  const data = await app.project(project.id)
  return data.ask(request, { ...asker, rows: app.rows() })
}

/** Runs a query for the caller of a route. */
export async function answerTo(visit: ProjectVisit, query: QueryRequest['query']): Promise<object> {
  const request: QueryRequest = { query, refresh: 'blocking', client_query_id: null, wantsStatus: false }
  const outcome = await ask(visit.app, visit.project, request, queryCallerOf(visit))
  return 'answer' in outcome ? outcome.answer.object : outcome.status
}

export interface StreamedRequest extends Pick<StreamHooks, 'breakOff' | 'patience'> {
  readonly form: 'csv' | 'arrow'
}

/** The rows of a query as a stream; null if its answer is not a list of rows. */
export async function askRows(app: App, project: ProjectRecord, request: QueryRequest, asker: QueryCaller, wanted: StreamedRequest) {
  const { query, client_query_id } = request
  const { asking } = app
  const data = await app.project(project.id)
  const give = asker.acquire?.() ?? (() => {})
  const attended = asking.runs.attend(project.id, client_query_id, asker.signal)
  const wantedRun = asking.wanted(project, query, { ...asker, signal: attended.signal }, { begin: attended.begin })
  const end = () => {
    attended.end()
    give()
  }
  try {
    const answer = await data.queryRows(query, wantedRun, app.rows())
    const peeked = answer && (await peek(answer))
    if (!peeked) end()
    return peeked && streamed(peeked, wanted.form, { ...wanted, stop: attended.stop, ended: end })
  } catch (error) {
    end()
    throw error
  }
}
