import { timeWriter } from '../../../src/queries/rows.ts'

// Values of the naive interpreter of statements, and how they compare.

/** A moment, or a day of the project's calendar (then the moment at which it begins). */
export interface Time {
  readonly micros: number
  readonly isDay: boolean
}
/** The id of a person: equal to itself, and nothing else is known of it. */
export interface PersonId {
  readonly person: string
}
export type Value = null | boolean | number | string | Time | PersonId | readonly Value[]

/** Thrown for whatever the interpreter does not know: the statement is then for the engines alone. */
export class CannotAnswer extends Error {}
export const cannot = (what: string): never => {
  throw new CannotAnswer(what)
}

export const isTime = (value: Value): value is Time => typeof value === 'object' && value !== null && 'micros' in value
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

/** Equal for equal values and for nothing else: what rows are grouped and told apart by. */
export const keyOf = (value: Value): string => (isTime(value) ? `t${value.micros}` : `${typeof value} ${JSON.stringify(value)}`)

/** Below zero when `a` comes first. Of values that are not null and of one kind. */
export function compare(a: Value, b: Value): number {
  if (isTime(a) && isTime(b)) return a.micros - b.micros
  if (typeof a === 'boolean' || typeof b === 'boolean') return Number(a) - Number(b)
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return cannot('an order of these values')
  return a < b! ? -1 : a > b! ? 1 : 0
}

/** Nothing comes last, in both directions. */
export function inOrder(a: Value, b: Value, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return descending ? compare(b, a) : compare(a, b)
}

/** As an answer shows it. */
export function written(value: Value, timezone: string): unknown {
  if (isTime(value)) {
    const text = timeWriter(timezone)(value.micros)
    return value.isDay ? text.slice(0, 10) : text
  }
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (isList(value)) return value.map((item) => written(item, timezone))
  return typeof value === 'object' && value !== null ? cannot('the id of a person') : value
}
