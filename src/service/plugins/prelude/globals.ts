import { Buffer } from 'buffer/'
import { apiCall, fetch, Headers, Response } from './fetching.ts'
import { call, jsonOf, log } from './host.ts'
import { RetryError } from './modules.ts'
import { URL, URLSearchParams } from './urls.ts'

// What plugins find without an import.

class TextEncoder {
  get encoding() {
    return 'utf-8'
  }
  encode(text = '') {
    return new Uint8Array(Buffer.from(String(text)))
  }
}
class TextDecoder {
  get encoding() {
    return 'utf-8'
  }
  decode(bytes?: ArrayBuffer | Uint8Array) {
    if (bytes === undefined) return ''
    return (
      bytes instanceof ArrayBuffer ? Buffer.from(bytes) : Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
    ).toString()
  }
}

/** A value as a line of the log shows it. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (value instanceof Error) return String(value.stack ? `${value}\n${value.stack}` : value)
  try {
    return jsonOf(value) ?? String(value)
  } catch {
    return String(value)
  }
}
const writer =
  (level: string) =>
  (...args: readonly unknown[]) =>
    log(level, args.map(shown).join(' '))
const console = { log: writer('LOG'), error: writer('ERROR'), debug: writer('DEBUG'), info: writer('INFO'), warn: writer('WARN') }

const capture = (event: unknown, properties: Record<string, unknown> | null = {}) => {
  const { timestamp, distinct_id, ...rest } = properties ?? {}
  const at = timestamp instanceof Date ? timestamp.toISOString() : String(timestamp)
  return call('capture', {
    event: String(event),
    distinct_id: distinct_id === undefined ? null : String(distinct_id),
    timestamp: timestamp === undefined ? null : at,
    properties: rest,
  })
}
const posthog = { capture, api: { get: apiCall('GET'), post: apiCall('POST'), put: apiCall('PUT'), delete: apiCall('DELETE') } }

export function defineGlobals(): void {
  const all = {
    fetch,
    console,
    URL,
    URLSearchParams,
    Headers,
    Response,
    Buffer,
    TextEncoder,
    TextDecoder,
    RetryError,
    posthog,
    global: globalThis,
    btoa: (text: unknown) => Buffer.from(String(text), 'latin1').toString('base64'),
    atob: (text: unknown) => Buffer.from(String(text), 'base64').toString('latin1'),
  }
  for (const [name, value] of Object.entries(all))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
}
