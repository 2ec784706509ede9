import { clipped } from './recorded.ts'

// What tools need of the HTTP API: each tool is one or two of its requests, with the caller's own rights and limits.

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH'
  /** Parts of the path below `/api/`. */
  readonly path: readonly (string | number)[]
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: object
}

/** Sends a request to the API, in this process or to another server. `path` begins with `/api/`. */
export type SendCall = (method: string, path: string, body: object | undefined, signal: AbortSignal) => Promise<Response>

export interface ApiOptions {
  readonly send: SendCall
  /** Where the pages are: `https://waymark.example.com`. Null: there are none. */
  readonly pages: string | null
}

/** The error body of a route. */
interface Refusal {
  readonly detail?: string
  readonly attr?: string | null
  readonly extra?: {
    readonly position?: { readonly line?: number; readonly column?: number }
    readonly suggestions?: readonly string[]
    readonly expected?: string
  }
}

/** What the API said no to, in a text for the agent. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  constructor(
    readonly status: number,
    { detail, attr, extra }: Refusal,
  ) {
    const { line, column } = extra?.position ?? {}
    super(
      [
        clipped(detail ?? `The server answered ${status}.`, 2_000),
        attr ? `Argument: ${attr}.` : '',
        line === undefined ? '' : `Position: line ${line}, column ${column}.`,
        extra?.expected === undefined ? '' : `Expected: ${extra.expected}.`,
        extra?.suggestions?.length ? `Did you mean ${extra.suggestions.join(', ')}?` : '',
      ]
        .filter((part) => part !== '')
        .join(' '),
    )
  }
}

export class Api {
  readonly pages: string | null
  private readonly send: SendCall

  constructor({ send, pages }: ApiOptions) {
    this.send = send
    this.pages = pages
  }

  async call<T>({ method = 'GET', path, query = {}, body }: Call, signal: AbortSignal): Promise<T> {
    const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    const search = new URLSearchParams(given as [string, string][]).toString()
    const address = `/api/${path.map((part) => encodeURIComponent(part)).join('/')}/${search === '' ? '' : `?${search}`}`
    const response = await this.send(method, address, body, signal)
    const answer: unknown = await response.json().catch(() => ({}))
    if (!response.ok) throw new ApiRefusal(response.status, answer as Refusal)
    return answer as T
  }

  /** The address of a page of a project, if there are pages. */
  page(project: number, path: string, search: Readonly<Record<string, string>> = {}): string | null {
    if (this.pages === null) return null
    const parameters = new URLSearchParams(search).toString()
    return `${this.pages}/#/project/${project}/${path}${parameters === '' ? '' : `?${parameters}`}`
  }
}
