import { createGunzip, gunzipSync } from 'node:zlib'
import { unpackLz64 } from '../../../lib/bytes/lz64.ts'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { own } from '../../../lib/own.ts'
import { FormError, multipartFields, urlEncodedFields } from '../requests/form-fields.ts'
import { CaptureRefusal } from './refusal.ts'

// From the bytes of a request to the JSON in them, in every form that clients send: raw JSON, a form field, base64, gzip, lz64, a query
// parameter. Clients often label bodies wrongly, so the bytes count more than the labels.

export interface CaptureRequest {
  readonly method: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: Uint8Array
  /** Limit of the events, decompressed. */
  readonly limit: number
  /** Called with the memory that decompression takes; throws if there is not enough. */
  readonly hold?: (bytes: number) => void
}

export interface DecodedBody {
  readonly json: Uint8Array
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
const sliceMs = 8

/** An unknown value means no compression. */
export const compressionNamed = (name: string | null): Compression => own(compressionNames, (name ?? '').trim().toLowerCase()) ?? null

export async function decodeBody(request: CaptureRequest): Promise<DecodedBody> {
  if (request.body.length > request.limit) throw tooLarge(request.limit)
  const { data, form } = await carried(request)
  const compression =
    compressionNamed(request.query.get('compression')) ??
    compressionNamed(form.get('compression')) ??
    compressionNamed(request.headers.get('content-encoding'))
  const json = trimmed(await unpacked(data, compression, request))
  if (json.length === 0) throw new CaptureRefusal('no-data', 'The request contains no events.')
  return { json, form }
}

/** The bytes with the events, and the form fields. */
async function carried(request: CaptureRequest): Promise<{ data: Uint8Array; form: URLSearchParams }> {
  const none = new URLSearchParams()
  if (request.method === 'GET') return { data: encode(request.query.get('data') ?? ''), form: none }
  const type = request.headers.get('content-type') ?? ''
  if (type.toLowerCase().startsWith('multipart/form-data')) {
    const form = await formOf(request, type)
    return { data: encode(form.get('data') ?? ''), form }
  }
  // Beacons and some libraries label everything as a form, so only a body that looks like one is parsed as one.
  const body = isGzip(request.body) ? request.body : trimmed(request.body)
  const isLabelled = type.toLowerCase().startsWith('application/x-www-form-urlencoded')
  if (!isGzip(body) && (isLabelled || startsWith(body, 'data=')) && isFormLike(body)) {
    const form = fieldsOf(body)
    return { data: encode(form.get('data') ?? ''), form }
  }
  if (body.length === 0 && request.query.has('data')) return { data: encode(request.query.get('data')!), form: none }
  return { data: body, form: none }
}

async function formOf(request: CaptureRequest, type: string): Promise<URLSearchParams> {
  const form = new URLSearchParams()
  for (const [name, value] of await multipartFields(request.body, type).catch(asRefusal))
    form.set(name, typeof value === 'string' ? value : await value.text())
  return form
}

function asRefusal(cause: unknown): never {
  throw cause instanceof FormError ? malformed(cause.message, cause) : cause
}

function fieldsOf(body: Uint8Array): URLSearchParams {
  try {
    return urlEncodedFields(decode(body))
  } catch (cause) {
    return asRefusal(cause)
  }
}

async function unpacked(data: Uint8Array, compression: Compression, request: CaptureRequest): Promise<Uint8Array> {
  if (isGzip(data)) return unzip(data, request)
  if (compression === 'gzip') {
    // Gzip data in a form field is base64-encoded.
    const bytes = fromBase64(data)
    if (bytes && isGzip(bytes)) return unzip(bytes, request)
    const plain = isJsonLike(data) ? data : bytes
    if (plain && isJsonLike(plain)) return plain
    throw malformed('the body is not gzip')
  }
  if (compression === 'lz64') return isJsonLike(data) ? data : unpackedLz64(data, request)
  if (isJsonLike(data) || trimmed(data).length === 0) return data
  const bytes = fromBase64(data)
  if (bytes && isGzip(bytes)) return unzip(bytes, request)
  return bytes && (compression === 'base64' || isJsonLike(bytes)) ? bytes : data
}

async function unpackedLz64(data: Uint8Array, { limit, hold }: CaptureRequest): Promise<Uint8Array> {
  try {
    const plain = await runInSlices(unpackLz64(trimmed(data), limit), sliceMs)
    if (!plain || plain.length === 0) throw malformed('the body is not LZString in base64')
    hold?.(plain.length)
    return plain
  } catch (cause) {
    throw cause instanceof RangeError ? tooLarge(limit) : cause
  }
}

const smallestChunk = 1 << 14
const largestChunk = 1 << 17
/** Texts usually compress to about a quarter. */
const usualRatio = 4

/** A small body is unpacked at once, which takes less than handing it to another thread, unless it grows by much. */
const quick = { bytes: 1 << 12, unpacked: 1 << 16 }

async function unzip(data: Uint8Array, request: CaptureRequest): Promise<Uint8Array> {
  const plain = data.length <= quick.bytes && quick.unpacked <= request.limit ? unzippedAtOnce(data) : null
  if (!plain) return unzipInChunks(data, request)
  request.hold?.(plain.length)
  return plain
}

/** Null: it becomes too long for that. */
function unzippedAtOnce(data: Uint8Array): Uint8Array | null {
  try {
    return gunzipSync(data, { maxOutputLength: quick.unpacked, chunkSize: Math.max(1 << 10, data.length * usualRatio) })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null
    throw malformed('the gzip body is corrupt', cause)
  }
}

function unzipInChunks(data: Uint8Array, { limit, hold }: CaptureRequest): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunkSize = Math.min(largestChunk, Math.max(smallestChunk, data.length * usualRatio))
    const stream = createGunzip({ chunkSize })
    const chunks: Uint8Array[] = []
    let size = 0
    const fail = (error: unknown) => {
      stream.destroy()
      reject(error)
    }
    stream.on('data', (chunk: Uint8Array) => {
      size += chunk.length
      if (size > limit) return fail(tooLarge(limit))
      try {
        hold?.(chunk.length)
      } catch (error) {
        return fail(error)
      }
      chunks.push(chunk)
    })
    stream.on('error', (cause) => fail(malformed('the gzip body is corrupt', cause)))
    stream.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    stream.end(data)
  })
}

/** Missing padding and spaces instead of `+` are accepted; null if it is not base64. */
function fromBase64(data: Uint8Array): Uint8Array | null {
  const text = latin1(trimmed(data)).trimEnd()
  if (text === '' || !/^[A-Za-z0-9+/_ \r\n-]+={0,2}$/.test(text)) return null
  return Buffer.from(text.replaceAll(' ', '+'), 'base64')
}

/** The body as one JSON value. */
export function parseJson(json: Uint8Array): unknown {
  const text = decode(json)
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Python clients write NaN and Infinity, which are not valid JSON.
    if (/NaN|Infinity/.test(text)) {
      try {
        return JSON.parse(withoutNonNumbers(text))
      } catch {}
    }
    throw malformed((cause as Error).message, cause)
  }
}

const nonNumber = /-?\b(?:NaN|Infinity)\b/g

/** Replaces NaN and Infinity by `null`, except inside texts. */
function withoutNonNumbers(text: string): string {
  let result = ''
  for (let from = 0; from < text.length; ) {
    const quote = text.indexOf('"', from)
    const start = quote < 0 ? text.length : quote
    const end = quote < 0 ? text.length : endOfText(text, quote)
    result += text.slice(from, start).replace(nonNumber, 'null') + text.slice(start, end)
    from = end
  }
  return result
}

function endOfText(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

export const malformed = (why: string, cause?: unknown) => {
  const refusal = new CaptureRefusal('invalid-payload', `Malformed request data: ${why}`)
  refusal.cause = cause
  return refusal
}
const tooLarge = (limit: number) => new CaptureRefusal('too-large', `The decompressed body exceeds ${limit} bytes.`)

const longestLiteral = 64
const isGzip = (data: Uint8Array) => data[0] === 0x1f && data[1] === 0x8b && data[2] === 0x08
const isFormLike = (body: Uint8Array) => /^[\w$-]+=/.test(latin1(body.subarray(0, 200)))
const isJsonLike = (data: Uint8Array) => {
  const json = trimmed(data)
  return (
    '[{"'.includes(String.fromCharCode(json[0] ?? 0x20)) ||
    (json.length <= longestLiteral && /^(?:null|true|false|-?\d+(?:\.\d+)?)$/.test(latin1(json).trim()))
  )
}
const startsWith = (data: Uint8Array, text: string) => latin1(data.subarray(0, text.length)) === text
const encode = (text: string) => new TextEncoder().encode(text)
const decoder = new TextDecoder()
const decode = (data: Uint8Array) => decoder.decode(data)
const latin1 = (data: Uint8Array) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1')

const byteOrderMark = [0xef, 0xbb, 0xbf]

/** Without leading white space and the byte order mark. */
function trimmed(data: Uint8Array): Uint8Array {
  let start = byteOrderMark.every((byte, i) => data[i] === byte) ? byteOrderMark.length : 0
  while (start < data.length && data[start]! <= 0x20) start++
  return start === 0 ? data : data.subarray(start)
}
