import { setTimeout as after } from 'node:timers/promises'
import { type RecordBatch, RecordBatchReader } from 'apache-arrow'
import { waitsLonger } from '../../http/queries/streamed.ts'
import { SqlError } from '../statements/sql-error.ts'

// What the door asks of the HTTP API in this process: with the key of the connection, so with its rights, limits and places in the queue.

export type Send = (request: Request, address: string | null, cut: (error?: unknown) => void) => Promise<Response>

interface Refusal {
  readonly code?: string
  readonly detail?: string
  readonly extra?: { readonly suggestions?: readonly string[]; readonly expected?: string } | null
}

const states: readonly (readonly [RegExp, string])[] = [
  [/division by zero/i, '22012'],
  [/cancel/i, '57014'],
  [/time limit|took longer|timeout/i, '57014'],
  [/memory/i, '53200'],
  [/Unsupported function call/i, '42883'],
  [/neither grouped/i, '42803'],
]
const statusStates: Readonly<Record<number, string>> = {
  401: '28000',
  403: '42501',
  404: '3D000',
  429: '53400',
  503: '57P03',
  413: '54000',
}

/** The error of a route as PostgreSQL would say it. */
function errorOf(status: number, { detail = `The server answered ${status}.`, extra }: Refusal): SqlError {
  const state =
    states.find(([pattern]) => status < 500 && pattern.test(detail))?.[1] ?? statusStates[status] ?? (status < 500 ? '42000' : 'XX000')
  const likely = extra?.suggestions?.[0]
  return new SqlError(state, detail, { hint: likely === undefined ? undefined : `Perhaps you meant "${likely}".` })
}

const cancelled = () => new SqlError('57014', 'canceling statement due to user request')

/** How long a cursor may be left before its rows are given up. */
const cursorMs = 15 * 60_000
/** How long a statement waits for a place beside others of its key. */
const placeMs = 60_000
/** How long a key counts as known for statements on the catalog. */
const knownMs = 5_000
/** Rows of an answer where downloads are turned off. */
const mostOfAnswer = 10_000

export interface Found {
  readonly id: number
  readonly name: string
  readonly timezone: string
}

interface Page<T> {
  readonly results: readonly T[]
  readonly count?: number
}

export interface EngineRows {
  readonly batches: AsyncGenerator<RecordBatch, void, undefined>
  readonly notices: readonly string[]
}

export class Api {
  private readonly send: Send
  readonly key: string
  private readonly address: string | null
  private knownAt = 0

  constructor(send: Send, key: string, address: string | null) {
    this.send = send
    this.key = key
    this.address = address
  }

  private request(
    method: string,
    path: string,
    body: object | undefined,
    { signal, accept = 'application/json' }: { signal?: AbortSignal | undefined; accept?: string },
  ): Request {
    return new Request(new URL(path, 'http://waymark.localhost'), {
      method,
      headers: { authorization: `Bearer ${this.key}`, accept, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  }

  async call<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const response = await this.send(this.request(method, path, body, { signal }), this.address, () => undefined).catch(
      (error: unknown) => {
        throw signal?.aborted ? cancelled() : error
      },
    )
    const answer: unknown = await response.json().catch(() => ({}))
    if (!response.ok) throw signal?.aborted ? cancelled() : errorOf(response.status, answer as Refusal)
    return answer as T
  }

  /** Null: the key may not read it. */
  async allowed<T>(path: string): Promise<T | null> {
    try {
      return await this.call<T>('GET', path)
    } catch (error) {
      if (error instanceof SqlError && error.state === '42501') return null
      throw error
    }
  }

  /** Whether the key is one. */
  async mustBeKnown(): Promise<{ readonly scoped_teams: readonly number[] }> {
    return this.call('GET', '/api/personal_api_keys/@current/')
  }

  /** What is answered without the API is refused to a key that is no longer one, too. */
  async mustStillBeKnown(): Promise<void> {
    if (Date.now() - this.knownAt < knownMs) return
    await this.mustBeKnown()
    this.knownAt = Date.now()
  }

  /** The projects that the key reaches, as far as it may list them. */
  async projects(scoped: readonly number[]): Promise<readonly Found[]> {
    if (scoped.length === 0) return (await this.allowed<Page<Found>>('/api/projects/?limit=1000'))?.results ?? []
    const all = await Promise.all(scoped.slice(0, 100).map((id) => this.project(id)))
    return all.filter((one) => one !== null)
  }

  /** A project by its id; null: the key does not reach it. */
  async project(id: number): Promise<Found | null> {
    const found = await this.allowed<Found>(`/api/projects/${id}/`).catch((error: unknown) => {
      if (error instanceof SqlError && error.state === '3D000') return null
      throw error
    })
    if (found) return found
    const mayAsk = await this.call('POST', `/api/projects/${id}/query/check_auth_for_async/`, {}).then(
      () => true,
      () => false,
    )
    return mayAsk ? { id, name: String(id), timezone: 'UTC' } : null
  }

  /** A small answer of the query route. */
  async ask(
    project: number,
    query: object,
    signal?: AbortSignal,
  ): Promise<{ readonly results: readonly (readonly unknown[])[]; readonly types: readonly (readonly [string, string])[] }> {
    return this.call('POST', `/api/projects/${project}/query/`, { query }, signal)
  }

  /** All rows of a statement, as the engine makes them. */
  async rows(project: number, sql: string, signal: AbortSignal): Promise<EngineRows> {
    const query = { kind: 'SqlLikeQuery', query: sql }
    const until = Date.now() + placeMs
    for (let wait = 50; ; wait = Math.min(wait * 2, 1000)) {
      const cut = new Cut()
      const request = this.request('POST', `/api/projects/${project}/query/export/`, { query, format: 'arrow' }, { signal })
      waitsLonger(request, cursorMs)
      const response = await this.send(request, this.address, (error) => cut.now(error)).catch((error: unknown) => {
        throw signal.aborted ? cancelled() : error
      })
      if (response.ok) return { batches: batchesOf(response, cut, signal), notices: noticesOf(response) }
      const refusal = (await response.json().catch(() => ({}))) as Refusal
      if (signal.aborted) throw cancelled()
      if (response.status === 403 && /Downloads without a row limit/.test(refusal.detail ?? ''))
        return this.limitedRows(project, sql, signal)
      const isBusy = response.status === 429 && /concurrent|queued or running/.test(refusal.detail ?? '')
      if (!isBusy || Date.now() > until) throw errorOf(response.status, refusal)
      await after(wait, undefined, { signal }).catch(() => {
        throw cancelled()
      })
    }
  }

  private async limitedRows(project: number, sql: string, signal: AbortSignal): Promise<EngineRows> {
    // Without a LIMIT of its own an answer has a hundred rows.
    const limited = `select * from (${sql}) as answer limit ${mostOfAnswer}`
    const cut = new Cut()
    const body = { query: { kind: 'SqlLikeQuery', query: limited } }
    const request = this.request('POST', `/api/projects/${project}/query/`, body, { signal, accept: 'application/vnd.apache.arrow.stream' })
    const response = await this.send(request, this.address, (error) => cut.now(error))
    if (!response.ok) throw errorOf(response.status, (await response.json().catch(() => ({}))) as Refusal)
    const isWhole = response.headers.get('x-has-more') === 'false'
    const notice = `This server answers at most ${mostOfAnswer} rows of a statement. If there are more, read them in parts with LIMIT and OFFSET.`
    return { batches: batchesOf(response, cut, signal), notices: [...(isWhole ? [] : [notice]), ...noticesOf(response)] }
  }
}

/** The end of a connection that is none. */
class Cut {
  private reject: ((error: unknown) => void) | null = null
  readonly happened = new Promise<never>((_, reject) => {
    this.reject = reject
  })

  constructor() {
    this.happened.catch(() => undefined)
  }

  now(error: unknown): void {
    const detail = error instanceof Error ? error.message : 'The answer could not be finished.'
    this.reject?.(error instanceof SqlError ? error : errorOf(400, { detail }))
  }
}

function noticesOf({ headers }: Response): string[] {
  try {
    const warnings = JSON.parse(headers.get('x-warnings') ?? '[]') as { readonly code?: string }[]
    return warnings.map((warning) => `Warning: ${JSON.stringify(warning)}`)
  } catch {
    return []
  }
}

async function* batchesOf(response: Response, cut: Cut, signal: AbortSignal): AsyncGenerator<RecordBatch, void, undefined> {
  const bytes = response.body!.getReader()
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(cancelled())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  stopped.catch(() => undefined)
  const source = (async function* () {
    for (;;) {
      const { done, value } = await Promise.race([bytes.read(), cut.happened, stopped])
      if (done) return
      yield value as Uint8Array
    }
  })()
  try {
    const reader = await RecordBatchReader.from(source)
    await reader.open()
    for await (const batch of reader) yield batch
  } catch (error) {
    throw signal.aborted ? cancelled() : error
  } finally {
    await bytes.cancel().catch(() => undefined)
  }
}
