import { storableText } from '../../../lib/text/storable-text.ts'

/** JSON.stringify escapes exactly these characters, so most texts pass without a check of each value. */
const escapedUnreadable = /\\u(?:0000|d[89a-f])/

function readableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(readableValue)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), readableValue(inner)]))
}

/** JSON text of `value`, with U+FFFD for unreadable characters. Throws what JSON.stringify throws; undefined if `value` has no JSON. */
export function readableJson(value: object): string
export function readableJson(value: unknown): string | undefined
export function readableJson(value: unknown): string | undefined {
  const text: string | undefined = JSON.stringify(value)
  return text?.includes('\\u') && escapedUnreadable.test(text) ? JSON.stringify(readableValue(JSON.parse(text))) : text
}

/** The first `limit` characters. A surrogate pair is one character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  return [...text.slice(0, limit * 2)].slice(0, limit).join('')
}

/** True if brackets in this JSON text are nested more than `limit` levels deep. */
export function isDeeperThan(limit: number, json: string): boolean {
  if (json.length < limit * 2) return false
  let depth = 0
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i)
    if (c === 34) {
      for (i = json.indexOf('"', i + 1); isEscaped(json, i); ) i = json.indexOf('"', i + 1)
    } else if (c === 123 || c === 91) {
      if (++depth > limit) return true
    } else if (c === 125 || c === 93) depth--
  }
  return false
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0
  while (json.charCodeAt(at - 1 - backslashes) === 92) backslashes++
  return backslashes % 2 === 1
}
