import type { Page as CountedPage, CursorPage } from '../../doors/answers/pages.ts'
// The HTTP API, as any client calls it. The session is in a cookie that scripts cannot read.

/** What the API refused, in its own words. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** The field at fault. */
  readonly attr: string | null
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.detail === 'string' ? body.detail : `The server answered with status ${status}.`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : 'error'
    this.attr = typeof body.attr === 'string' ? body.attr : null
    this.body = body
  }
}

/** The password was right, and the account has a second factor. */
export const needsCode = (error: unknown): boolean => error instanceof ApiError && error.code === '2fa_required'

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Called when the session has ended. */
let onSignedOut = () => {}
export const whenSignedOut = (handler: () => void) => {
  onSignedOut = handler
}

/** Called when an organization of the user requires a second factor meanwhile. */
let onHeld = () => {}
export const whenHeld = (handler: () => void) => {
  onHeld = handler
}

/** Aborts when the user signs out: what a page still loads, or asks from then on, would be refused. */
let session = new AbortController()

export async function signOut(): Promise<void> {
  session.abort()
  await request('POST', 'api/logout/', new AbortController().signal)
}
/** After signing out, where the page is not loaded again. */
export const beginSession = (): void => {
  session = new AbortController()
}

export const call = <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> =>
  request(method, path, session.signal, body, signal)

async function request<T>(method: string, path: string, leaving: AbortSignal, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path.replace(/^\//, ''), {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, leaving]) : leaving,
  }).catch((error: unknown) => {
    if (leaving.aborted) return new Promise<never>(() => {}) // the page that waits for it is gone
    if (signal?.aborted) throw error
    throw new ApiError(0, { detail: 'The server cannot be reached. Is it running?' })
  })
  if (response.status === 204) return undefined as T
  const text = await response.text()
  if (response.ok && text === '') return undefined as T
  let answer: unknown = null
  try {
    answer = JSON.parse(text)
  } catch {
    if (response.ok) throw new ApiError(response.status, { detail: 'The server answered with something that is not JSON.' })
  }
  if (response.ok) return answer as T
  const error = new ApiError(response.status, isObject(answer) ? answer : {})
  if (response.status === 401 && error.code === 'not_authenticated') onSignedOut()
  if (error.code === 'two_factor_setup_required') onHeld()
  throw error
}

export const get = <T>(path: string, signal?: AbortSignal) => call<T>('GET', path, undefined, signal)
export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal) => call<T>('POST', path, body, signal)
export const patch = <T>(path: string, body: unknown) => call<T>('PATCH', path, body)
export const remove = (path: string) => call<void>('DELETE', path)

/** Lists with a cursor have no count. */
export type Page<T> = CursorPage<T> & Partial<CountedPage<T>>

/** Links of an answer begin with the public address of the server, which may be another one. */
export const pathOf = (link: string): string => link.slice(Math.max(0, link.search(/\bapi\//)))

/** Every page of a list that is short. */
export async function allOf<T>(path: string): Promise<readonly T[]> {
  const rows: T[] = []
  for (let next: string | null = path; next !== null; ) {
    const page: Page<T> = await get<Page<T>>(next)
    rows.push(...page.results)
    next = page.next && pathOf(page.next)
  }
  return rows
}

export type Query = Readonly<Record<string, unknown>> & { readonly kind: string }
export interface Answer {
  readonly results?: unknown
  readonly columns?: readonly string[]
  readonly types?: readonly (readonly [string, string])[]
  readonly hasMore?: boolean
  readonly last_refresh?: string
  readonly is_cached?: boolean
  readonly warnings?: readonly { readonly message: string }[]
  /** Tables beside the events, and from when their rows are. */
  readonly attached?: readonly { readonly table: string; readonly as_of: string }[]
  readonly [field: string]: unknown
}

/** Ends on the server too when it is aborted: a query whose client has left is cancelled. */
export const ask = (projectId: number, query: Query, signal?: AbortSignal, refresh = 'blocking'): Promise<Answer> =>
  post(`api/projects/${projectId}/query/`, { query, refresh }, signal)
