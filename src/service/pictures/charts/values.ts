import { isObject } from '../../../lib/is-object.ts'

// Answers come from the cache as JSON, and of kinds that may be newer than this file: whatever is not there reads as nothing.

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objectsOf = (value: unknown): readonly Fields[] => listOf(value).filter(isObject)
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '')
export const textsOf = (value: unknown): readonly string[] => listOf(value).map(textOf)
/** Sums of numbers up to this one are still numbers. */
const largest = 1e300

export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(-largest, Math.min(largest, value)) : null
export const numbersOf = (value: unknown): readonly (number | null)[] => listOf(value).map(numberOf)
export const isPreviousRow = (row: Fields): boolean => row.compare_label === 'previous'

/** Of no value. */
const none = '(none)'
const other = 'Other'

/** Of all values without a row of their own. */
export const otherValue = '$$_posthog_breakdown_other_$$'

/** What answers have in place of no value, and of all values without a row of their own. */
const breakdownNames: ReadonlyMap<string, string> = new Map([
  ['', none],
  ['$$_posthog_breakdown_null_$$', none],
  [otherValue, other],
])

const breakdownParts = (value: unknown): readonly string[] => {
  const parts = [value].flat().map((part) => {
    const text = typeof part === 'boolean' ? String(part) : textOf(part)
    return breakdownNames.get(text) ?? text
  })
  return parts.length > 0 && parts.every((part) => part === other) ? [other] : parts
}

/** A value of a breakdown, or several. */
export const breakdownText = (value: unknown): string => breakdownParts(value).join(', ')
/** The same after the name of what it splits: `(Chrome)`, `(none)`. */
export const breakdownInBrackets = (value: unknown): string =>
  `(${breakdownParts(value)
    .map((part) => (part === none ? 'none' : part))
    .join(', ')})`
