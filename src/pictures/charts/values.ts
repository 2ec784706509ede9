import { isObject } from '../../lib/is-object.ts'

// Answers come from the cache as JSON, and of kinds that may be newer than this file: whatever is not there reads as nothing.

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objectsOf = (value: unknown): readonly Fields[] => listOf(value).filter(isObject)
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '')
export const textsOf = (value: unknown): readonly string[] => listOf(value).map(textOf)
export const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
export const numbersOf = (value: unknown): readonly (number | null)[] => listOf(value).map(numberOf)
export const isPreviousRow = (row: Fields): boolean => row.compare_label === 'previous'

/** A value of a breakdown, or several. */
export const breakdownText = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(breakdownText).join(', ')
    : value === null || value === undefined || value === ''
      ? '(none)'
      : textOf(value)
