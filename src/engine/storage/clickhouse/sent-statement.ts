import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { QueryError } from '../../../errors/errors.ts'
import type { ClickHouseClient } from './client.ts'

// Parameters go into the URL while it is short: proxies accept a few kilobytes, the server 1 MiB. Otherwise they go with the statement into a form.

type Sent = Pick<Parameters<ClickHouseClient['exec']>[0], 'query' | 'query_params' | 'values' | 'http_headers'>
export type Params = Readonly<Record<string, unknown>>

const longestUrl = 4_096
/** The default limit for one field of a form (`http_max_field_value_size`). */
const longestField = 131_072
/** The server concatenates the parts of a statement. */
const longestPart = 30_000

/** The parts of a request that identify its statement. */
export function sentStatement(query: string, params: Params = {}): Sent {
  const fields = Object.entries(params).map(([name, value]) => [`param_${name}`, parameterText(value)] as const)
  for (const [, text] of fields) mustBeShort(text)
  if (new URLSearchParams(fields.map(([name, text]): [string, string] => [name, text])).toString().length <= longestUrl)
    return { query, query_params: { ...params } }
  const boundary = `waymark-${randomUUID()}`
  const parts = [...pieces(query).map((piece) => ['query', piece] as const), ...fields]
  const form = parts.map(([name, text]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`)
  return {
    query: '',
    values: Readable.from([`${form.join('')}--${boundary}--\r\n`], { objectMode: false }),
    http_headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  }
}

const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\' }

/** In the format that the server parses. */
function parameterText(value: unknown): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'string' ? value.replace(/[\t\n\r'\\]/g, (letter) => escapes[letter]!) : String(value)
}

function mustBeShort(text: string): void {
  const bytes = text.length * 3 <= longestField ? 0 : Buffer.byteLength(text)
  if (bytes <= longestField) return
  const number = (count: number) => count.toLocaleString('en-US')
  const message = `A text of ${number(bytes)} bytes is too long for ClickHouse, which takes values of at most ${number(longestField)} bytes`
  throw new QueryError('engine-refused', { message })
}

function pieces(text: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + longestPart)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end-- // not between the halves of a character
    parts.push(text.slice(at, end))
    at = end
  }
  return parts
}
