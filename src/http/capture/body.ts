import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import lzString from 'lz-string'
import { own } from '../../lib/own.ts'
import { CaptureRefusal } from './refusal.ts'

// From the bytes of a request to the JSON value they carry, in every form that clients send: raw JSON, a form field, base64, gzip, lz64, a query
// parameter. Clients label their bodies carelessly, so what the bytes are counts more than what the labels say.

export interface CaptureRequest {
  readonly method: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: Uint8Array
  /** Most bytes of the events, unpacked. */
  readonly limit: number
}

export interface DecodedBody {
  readonly value: unknown
  /** The other fields of a form; empty for other bodies. */
  readonly form: URLSearchParams
}

export type Compression = 'gzip' | 'lz64' | 'base64' | null

const compressionNames: Readonly<Record<string, Compression>> = {
  gzip: 'gzip',
  'gzip-js': 'gzip',
  lz64: 'lz64',
  'lz-string': 'lz64',
  base64: 'base64',
  b64: 'base64',
}

/** A value nobody knows is no compression. */
export const compressionNamed = (name: string | null): Compression => own(compressionNames, (name ?? '').trim().toLowerCase()) ?? null

export async function decodeBody(request: CaptureRequest): Promise<DecodedBody> {
  if (request.body.length > request.limit) throw tooLarge(request.limit)
  const { data, form } = await carried(request)
  const compression =
    compressionNamed(request.query.get('compression')) ??
    compressionNamed(form.get('compression')) ??
    compressionNamed(request.headers.get('content-encoding'))
  const text = await textOf(data, compression, request.limit)
  if (text.trim() === '') throw new CaptureRefusal('no-data', 'The request holds no event.')
  return { value: parseJson(text), form }
}

/** The bytes that hold the events, and the form fields beside them. */
async function carried(request: CaptureRequest): Promise<{ data: Uint8Array; form: URLSearchParams }> {
  const none = new URLSearchParams()
  if (request.method === 'GET') return { data: encode(request.query.get('data') ?? ''), form: none }
  const type = (request.headers.get('content-type') ?? '').toLowerCase()
  if (type.startsWith('multipart/form-data')) {
    const form = await formOf(request)
    return { data: encode(form.get('data') ?? ''), form }
  }
  // Beacons and some libraries label everything as a form, so only a body that looks like one is read as one.
  const body = isGzip(request.body) ? request.body : trimmed(request.body)
  if (!isGzip(body) && (type.startsWith('application/x-www-form-urlencoded') || startsWith(body, 'data='))) {
    const text = decode(body)
    if (/^[\w$-]+=/.test(text)) {
      const form = new URLSearchParams(text)
      return { data: encode(form.get('data') ?? ''), form }
    }
  }
  if (body.length === 0 && request.query.has('data')) return { data: encode(request.query.get('data')!), form: none }
  return { data: body, form: none }
}

async function formOf(request: CaptureRequest): Promise<URLSearchParams> {
  const form = new URLSearchParams()
  const headers = { 'content-type': request.headers.get('content-type')! }
  try {
    const parsed = await new Response(request.body, { headers }).formData()
    for (const [name, value] of parsed) form.set(name, typeof value === 'string' ? value : await value.text())
  } catch (cause) {
    throw malformed('the multipart body cannot be read', cause)
  }
  return form
}

async function textOf(data: Uint8Array, compression: Compression, limit: number): Promise<string> {
  if (isGzip(data)) return decode(await unzip(data, limit))
  const text = decode(data)
  if (compression === 'gzip') {
    // A gzip body that went through a form arrives as base64.
    const bytes = fromBase64(text)
    if (bytes && isGzip(bytes)) return decode(await unzip(bytes, limit))
    if (isJsonLike(text)) return text
    throw malformed('the body is not gzip')
  }
  if (compression === 'lz64') {
    if (isJsonLike(text)) return text
    const plain = lzString.decompressFromBase64(text.replaceAll(' ', '+'))
    if (!plain) throw malformed('the body is not LZString in base64')
    if (plain.length > limit) throw tooLarge(limit)
    return plain
  }
  if (isJsonLike(text) || text.trim() === '') return text
  const bytes = fromBase64(text)
  if (bytes) return isGzip(bytes) ? decode(await unzip(bytes, limit)) : decode(bytes)
  return text
}

const gunzipped = promisify(gunzip)
async function unzip(data: Uint8Array, limit: number): Promise<Uint8Array> {
  try {
    return await gunzipped(data, { maxOutputLength: limit })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw malformed('the body is broken gzip', cause)
  }
}

/** Missing padding and blanks for `+` are forgiven; null when it is no base64. */
function fromBase64(text: string): Uint8Array | null {
  const clean = text.trim().replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/')
  if (clean === '' || !/^[A-Za-z0-9+/\r\n]+={0,2}$/.test(clean)) return null
  return Buffer.from(clean, 'base64')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Clients in Python write NaN and Infinity, which no JSON has.
    if (/NaN|Infinity/.test(text)) {
      try {
        return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (part) => (part.startsWith('"') ? part : 'null')))
      } catch {}
    }
    throw malformed((cause as Error).message, cause)
  }
}

const malformed = (why: string, cause?: unknown) => {
  const refusal = new CaptureRefusal('invalid-payload', `Malformed request data: ${why}`)
  refusal.cause = cause
  return refusal
}
const tooLarge = (limit: number) => new CaptureRefusal('too-large', `The body unpacks to more than ${limit} bytes, the most that is taken.`)

const isGzip = (data: Uint8Array) => data[0] === 0x1f && data[1] === 0x8b && data[2] === 0x08
const isJsonLike = (text: string) => /^\s*(?:[[{"]|(?:null|true|false|-?\d+(?:\.\d+)?)\s*$)/.test(text)
const startsWith = (data: Uint8Array, text: string) => decode(data.subarray(0, text.length)) === text
const encode = (text: string) => new TextEncoder().encode(text)
const decoder = new TextDecoder()
const decode = (data: Uint8Array) => decoder.decode(data)

function trimmed(data: Uint8Array): Uint8Array {
  let start = 0
  while (start < data.length && data[start]! <= 0x20) start++
  return start === 0 ? data : data.subarray(start)
}
