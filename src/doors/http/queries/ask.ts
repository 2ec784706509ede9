import type { DownloadFormat } from '../../../engine/execution/download.ts'
import type { ProjectRecord } from '../../../service/accounts/records.ts'
import { downloadSeconds, type Outcome, type QueryCaller } from '../../../service/asking/asking.ts'
import type { App } from '../app.ts'
import type { ProjectVisit } from '../resource.ts'
import { queryCallerOf } from './query-caller.ts'
import type { DownloadRequest, QueryRequest } from './request.ts'
import { begunStream, pacedBody, peek, type StreamHooks, streamed } from './streamed.ts'

/** An answer, or the status of a query in the background. */
export async function ask(app: App, project: ProjectRecord, request: QueryRequest, asker: QueryCaller): Promise<Outcome> {
  const data = await app.project(project.id)
  return data.ask(request, { ...asker, rows: app.rows() })
}

/** Runs a query for the caller of a route. */
export async function answerTo(
  visit: ProjectVisit,
  query: QueryRequest['query'],
  refresh: 'blocking' | 'force_blocking' = 'blocking',
): Promise<object> {
  const request: QueryRequest = { query, refresh, client_query_id: null, wantsStatus: false }
  const outcome = await ask(visit.app, visit.project, request, queryCallerOf(visit))
  return 'answer' in outcome ? outcome.answer.object : outcome.status
}

export interface StreamedRequest extends Pick<StreamHooks, 'breakOff' | 'patience'> {
  readonly form: 'csv' | 'arrow'
}

/** Counts a query and makes it cancellable until its stream ends. */
async function beginStream(
  { asking }: App,
  project: ProjectRecord,
  asked: Pick<QueryRequest, 'query' | 'client_query_id'>,
  asker: QueryCaller,
  limits = {},
) {
  const give = (await asker.acquire?.()) ?? (() => {})
  const attended = asking.runs.attend(project.id, asked.client_query_id, asker.signal)
  return {
    wanted: asking.wanted(project, asked.query, { ...asker, signal: attended.signal }, { begin: attended.begin, ...limits }),
    stop: attended.stop,
    ended: () => {
      attended.end()
      give()
    },
  }
}

/** The rows of a query as a stream; null if its answer is not a list of rows. */
export async function askRows(app: App, project: ProjectRecord, request: QueryRequest, asker: QueryCaller, wanted: StreamedRequest) {
  const data = await app.project(project.id)
  const { wanted: run, stop, ended } = await beginStream(app, project, request, asker)
  try {
    const answer = await data.queryRows(request.query, run, app.rows())
    const peeked = answer && (await peek(answer))
    if (!peeked) ended()
    return peeked && streamed(peeked, wanted.form, { ...wanted, stop, ended })
  } catch (error) {
    ended()
    throw error
  }
}

/** All rows of a query as a file. Errors before its first byte get their own status. */
export async function download(
  app: App,
  project: ProjectRecord,
  request: DownloadRequest,
  asker: QueryCaller,
  { format, ...hooks }: Pick<StreamHooks, 'breakOff' | 'patience'> & { readonly format: DownloadFormat },
) {
  const data = await app.project(project.id)
  const { wanted, stop, ended } = await beginStream(app, project, request, asker, { isBackground: true, seconds: downloadSeconds })
  try {
    const { warnings, bytes } = await data.download(request.query, format, wanted)
    const begun = await begunStream(bytes)
    return { warnings, body: pacedBody(begun, { ...hooks, stop, ended }) }
  } catch (error) {
    ended()
    throw error
  }
}
