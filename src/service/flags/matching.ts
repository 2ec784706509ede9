import { linearPattern } from '../../lib/text/linear-pattern.ts'
import type { FlagProperty } from './definition.ts'

// Whether a property is as a condition wants it. Values are compared as texts, as the client libraries do that evaluate flags by themselves: a person must get the same answer from both.

export type Properties = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))
const folded = (value: unknown): string => textOf(value).toLowerCase()
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** `found` is folded once: a list may have thousands of values. */
function isOneOf(found: unknown, wanted: unknown): boolean {
  const text = folded(found)
  return listOf(wanted).some((one) => folded(one) === text)
}
function contains(found: unknown, wanted: unknown): boolean {
  const text = folded(found)
  return listOf(wanted).some((one) => text.includes(folded(one)))
}

/** Characters: with the project key, everybody may send a text of any length. */
const longestMatched = 500

/** A longer text, and an invalid pattern, which a check refuses when it is saved, match nothing. */
const matches = (found: unknown, pattern: unknown): boolean => {
  const text = textOf(found)
  if (text.length > longestMatched) return false
  try {
    return linearPattern(String(pattern))(text)
  } catch {
    return false
  }
}

/** Numbers where both are some, else texts. */
function compared(found: unknown, wanted: unknown): number {
  const [a, b] = [found, wanted].map((one) =>
    typeof one === 'number' || (typeof one === 'string' && one.trim() !== '') ? Number(one) : Number.NaN,
  )
  if (!Number.isNaN(a) && !Number.isNaN(b)) return a! - b!
  const [left, right] = [textOf(found), textOf(wanted)]
  return left < right ? -1 : Number(left > right)
}

const relative = /^-?(\d{1,5})([hdwmy])$/

/** A time, or one that is so long ago: `-7d`. Null: neither. */
function timeOf(value: unknown, now: Date): number | null {
  if (typeof value === 'number') return value > 1e11 ? value : value * 1000
  if (typeof value !== 'string') return null
  const [, count, unit] = relative.exec(value.trim()) ?? []
  if (count === undefined) {
    const text = value.trim()
    const isBare = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?$/.test(text)
    const at = Date.parse(isBare ? `${text.replace(' ', 'T')}${text.length === 10 ? 'T00:00:00' : ''}Z` : text)
    return Number.isNaN(at) ? null : at
  }
  const at = new Date(now)
  const amount = Number(count)
  if (unit === 'h') at.setUTCHours(at.getUTCHours() - amount)
  if (unit === 'd') at.setUTCDate(at.getUTCDate() - amount)
  if (unit === 'w') at.setUTCDate(at.getUTCDate() - 7 * amount)
  if (unit === 'm') at.setUTCMonth(at.getUTCMonth() - amount)
  if (unit === 'y') at.setUTCFullYear(at.getUTCFullYear() - amount)
  return at.getTime()
}

function isAt(found: unknown, wanted: unknown, now: Date, holds: (at: number, limit: number) => boolean): boolean {
  const [at, limit] = [timeOf(found, now), timeOf(wanted, now)]
  return at !== null && limit !== null && holds(at, limit)
}

/** Of a missing property, only what denies something is true. */
export function propertyHolds(
  { key, operator, value }: Pick<FlagProperty, 'key' | 'operator' | 'value'>,
  properties: Properties,
  now: Date,
): boolean {
  const found = Object.hasOwn(properties, key as string) ? properties[key as string] : undefined
  const isThere = found !== undefined && found !== null
  switch (operator ?? 'exact') {
    case 'is_set':
      return isThere
    case 'is_not_set':
      return !isThere
    case 'is_not':
      return !isThere || !isOneOf(found, value)
    case 'not_icontains':
      return !isThere || !contains(found, value)
    case 'not_regex':
      return !isThere || !matches(found, value)
    case 'not_in':
      return !isThere || !isOneOf(found, value)
  }
  if (!isThere) return false
  switch (operator ?? 'exact') {
    case 'icontains':
      return contains(found, value)
    case 'regex':
      return matches(found, value)
    case 'gt':
      return compared(found, value) > 0
    case 'gte':
      return compared(found, value) >= 0
    case 'lt':
      return compared(found, value) < 0
    case 'lte':
      return compared(found, value) <= 0
    case 'is_date_before':
      return isAt(found, value, now, (at, limit) => at < limit)
    case 'is_date_after':
      return isAt(found, value, now, (at, limit) => at > limit)
    case 'is_date_exact':
      return isAt(found, value, now, (at, limit) => at === limit)
    default:
      return isOneOf(found, value)
  }
}
