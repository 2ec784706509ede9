import { timeWriter } from '../../../src/queries/answers/rows.ts'

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
/** What a property that was never declared holds: never null. */
export interface Own {
  readonly own: unknown
}
export type Value = null | boolean | number | string | Time | PersonId | Own | readonly Value[]

/** Thrown for whatever the interpreter does not know: the statement is then for the engines alone. */
export class CannotAnswer extends Error {}
export const cannot = (what: string): never => {
  throw new CannotAnswer(what)
}

export const isTime = (value: Value): value is Time => typeof value === 'object' && value !== null && 'micros' in value
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

export const isOwn = (value: Value): value is Own => typeof value === 'object' && value !== null && 'own' in value
export const ownText = ({ own }: Own): string => (typeof own === 'string' ? own : JSON.stringify(own))
/** A text that is a number from its first character to its last is one where a number is asked for. */
export function ownNumber({ own }: Own): number | null {
  if (typeof own === 'number') return own
  const isNumber = typeof own === 'string' && /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(own) && Number.isFinite(Number(own))
  return isNumber ? Number(own) : null
}
export const asText = (value: Value): Value => (isOwn(value) ? ownText(value) : value)
export const asNumber = (value: Value): Value => (isOwn(value) ? ownNumber(value) : value)

/** What is known of an expression before any row is looked at. */
export type Kind = 'own' | 'number' | 'boolean' | 'other'
/** A property beside values of a kind. */
export function besideKind(value: Value, kind: Kind): Value {
  if (!isOwn(value) || kind === 'own') return value
  if (kind === 'number') return ownNumber(value)
  const text = ownText(value)
  return kind === 'other' ? text : text === 'true' ? true : text === 'false' ? false : null
}

/** Equal for equal values and for nothing else: what rows are grouped and told apart by. */
export function keyOf(value: Value): string {
  if (isList(value)) return `[${value.map(keyOf).join()}]`
  const plain = asText(value)
  return isTime(plain) ? `t${plain.micros}` : `${typeof plain} ${JSON.stringify(plain)}`
}

/** Below zero when `a` comes first. Of values that are not null and of one kind. */
export function compare(a: Value, b: Value): number {
  if (isTime(a) && isTime(b)) return a.micros - b.micros
  if (isOwn(a) && isOwn(b)) return compareOwn(a, b)
  if (isOwn(a)) return typeof b === 'string' ? compare(ownText(a), b) : cannot('an order of a property and this value')
  if (isOwn(b)) return typeof a === 'string' ? compare(a, ownText(b)) : cannot('an order of a property and this value')
  if (typeof a === 'boolean' || typeof b === 'boolean') return Number(a) - Number(b)
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return cannot('an order of these values')
  return a < b! ? -1 : a > b! ? 1 : 0
}

/** Numbers by value, then texts. */
function compareOwn(a: Own, b: Own): number {
  if (typeof a.own === 'number' && typeof b.own === 'number') return a.own - b.own
  if (typeof a.own === 'number' || typeof b.own === 'number') return typeof a.own === 'number' ? -1 : 1
  return compare(ownText(a), ownText(b))
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
  if (isOwn(value)) return ownText(value)
  if (isList(value)) return value.map((item) => written(item, timezone))
  return typeof value === 'object' && value !== null ? cannot('the id of a person') : value
}
