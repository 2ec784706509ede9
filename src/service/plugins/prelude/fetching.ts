import { Buffer } from 'buffer/'
import { call, jsonOf, parse } from './host.ts'
import { URLSearchParams } from './urls.ts'

// `fetch` and the calls of the project's API: the server makes them.

type Pairs = Iterable<readonly [name: string, value: unknown]>

export class Headers {
  readonly #values = new Map<string, string>()

  constructor(from: unknown = {}) {
    const isList = from instanceof Headers || typeof (from as Pairs | null)?.[Symbol.iterator] === 'function'
    for (const [name, value] of isList ? (from as Pairs) : Object.entries(from ?? {}))
      this.append(name, Array.isArray(value) ? value.join(', ') : value)
  }
  append(name: string, value: unknown) {
    const key = String(name).toLowerCase()
    const before = this.#values.get(key)
    this.#values.set(key, before === undefined ? String(value) : `${before}, ${value}`)
  }
  set(name: string, value: unknown) {
    this.#values.set(String(name).toLowerCase(), String(value))
  }
  get(name: string) {
    return this.#values.get(String(name).toLowerCase()) ?? null
  }
  has(name: string) {
    return this.#values.has(String(name).toLowerCase())
  }
  delete(name: string) {
    this.#values.delete(String(name).toLowerCase())
  }
  forEach(work: (value: string, name: string, self: Headers) => void) {
    for (const [name, value] of this.#values) work(value, name, this)
  }
  keys() {
    return this.#values.keys()
  }
  values() {
    return this.#values.values()
  }
  entries() {
    return this.#values.entries()
  }
  [Symbol.iterator]() {
    return this.#values.entries()
  }
  /** As node-fetch has it. */
  raw() {
    return Object.fromEntries([...this.#values].map(([name, value]) => [name, [value]]))
  }
}

interface Received {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly headers: unknown
  readonly text?: string
  readonly base64?: string
}

export class Response {
  readonly #answer: Received
  readonly headers: Headers
  bodyUsed = false

  constructor(answer: Received) {
    this.#answer = answer
    this.headers = new Headers(answer.headers)
  }
  get status() {
    return this.#answer.status
  }
  get statusText() {
    return this.#answer.statusText
  }
  get url() {
    return this.#answer.url
  }
  get ok() {
    return this.status >= 200 && this.status < 300
  }
  clone() {
    return new Response(this.#answer)
  }
  async buffer() {
    this.bodyUsed = true
    const { text = '', base64 } = this.#answer
    return base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64')
  }
  async arrayBuffer() {
    return (await this.buffer()).buffer
  }
  async text() {
    this.bodyUsed = true
    const { text = '', base64 } = this.#answer
    return base64 === undefined ? text : (await this.buffer()).toString()
  }
  async json() {
    return parse(await this.text())
  }
}

interface Options {
  readonly method?: unknown
  readonly headers?: unknown
  readonly body?: unknown
}

const sentBody = (body: unknown) => {
  if (body instanceof ArrayBuffer) return { base64: Buffer.from(body).toString('base64') }
  if (ArrayBuffer.isView(body))
    return { base64: Buffer.from(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength).toString('base64') }
  return { text: String(body) }
}
const requestOf = (resource: unknown, options: Options = {}) => {
  const headers = new Headers(options.headers)
  const body = options.body ?? null
  if (body instanceof URLSearchParams && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
  return {
    url: String((resource as { url?: unknown } | null)?.url ?? resource),
    method: String(options.method ?? 'GET').toUpperCase(),
    headers: Object.fromEntries(headers),
    body: body === null ? null : sentBody(body),
  }
}

export const fetch = async (resource?: unknown, options?: Options): Promise<Response> =>
  new Response(await call('fetch', requestOf(resource, options)))

interface ApiOptions extends Options {
  readonly data?: unknown
  readonly personalApiKey?: unknown
}

export const apiCall =
  (method: string) =>
  async (path: unknown, options: ApiOptions = {}): Promise<Response> => {
    const headers = new Headers(options.headers)
    if (options.data !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
    const body = options.data === undefined ? options.body : jsonOf(options.data)
    return new Response(
      await call('api', { ...requestOf(path, { ...options, method, headers, body }), key: options.personalApiKey ?? null }),
    )
  }
