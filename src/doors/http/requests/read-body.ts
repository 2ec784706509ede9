import type { IncomingMessage } from 'node:http'

// Bodies that a body parser of the application has read before the handler: Express leaves what it parsed in `body`.

interface Parsed extends IncomingMessage {
  readonly body?: unknown
  /** What some platforms keep of the bytes. */
  readonly rawBody?: unknown
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** A body of form fields again. Null: a JSON text that was parsed as a form lost its `&` and `=`, and a nested object was no form. */
const formOf = (fields: Readonly<Record<string, unknown>>): string | null => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (/^\s*[[{]/.test(name)) return null
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one !== 'string') return null
      form.append(name, one)
    }
  }
  return form.toString()
}

/** The bytes of a body that was read before. `unread`: the stream still has them. `lost`: nobody kept them. */
function bodyReadBefore(request: Parsed): Uint8Array | 'unread' | 'lost' {
  if (!request.readableDidRead) return 'unread'
  const { body, rawBody } = request
  const bytes = [rawBody, body].find((one) => one instanceof Uint8Array)
  if (bytes) return bytes as Uint8Array
  if (typeof body === 'string') return new TextEncoder().encode(body)
  const type = (request.headers['content-type'] ?? '').toLowerCase()
  if (!isRecord(body) || type.startsWith('multipart/')) return 'lost'
  const text = type.startsWith('application/x-www-form-urlencoded') ? formOf(body) : JSON.stringify(body)
  return text === null ? 'lost' : new TextEncoder().encode(text)
}

/** Headers of the bytes as they were sent. */
const ofTransfer: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding'])

/** The request with a body that was read before. Null: that is lost. */
export function withBodyReadBefore(request: Request, incoming: IncomingMessage): Request | null {
  if (request.method === 'GET' || request.method === 'HEAD') return request
  const bytes = bodyReadBefore(incoming)
  if (bytes === 'unread') return request
  if (bytes === 'lost') return null
  const headers = new Headers([...request.headers].filter(([name]) => !ofTransfer.has(name)))
  return new Request(request.url, { method: request.method, headers, body: new Uint8Array(bytes), signal: request.signal })
}
