import { isProperty } from '../types/property-values.ts'
import type { SqlType } from '../types/types.ts'

// How large a call's result is relative to its arguments. Sizes are bytes of one row in the engine's memory: an item of an array takes its width, a
// text its bytes plus sixteen for its reference.

/** Computes sizes from the arguments of a call: as numbers if they are known at planning time, otherwise as expressions of the engine. */
export interface Counting<T> {
  number(value: number): T
  /** The value of a numeric argument. */
  value(position: number): T
  /** The bytes of an argument's contents. */
  bytes(position: number): T
  /** The bytes of an argument as an item of an array. */
  item(position: number): T
  /** How often these letters occur in a text. */
  letters(position: number, letters: string): T
  plus(a: T, b: T): T
  times(a: T, b: T): T
  over(a: T, b: T): T
  least(a: T, b: T): T
  most(a: T, b: T): T
  size(a: T): T
}

export type InProportion = Extract<Makes, { kind: 'times' }>
export type Makes =
  /** At most this factor times the bytes of all arguments together; `usual` is the factor for typical stored texts. */
  | { readonly kind: 'times'; readonly times: number; readonly usual: number }
  /** One of the arguments, or a part of it. */
  | { readonly kind: 'part' }
  /** Exactly this size. The call is refused if the size exceeds the limit for a row. */
  | { readonly kind: 'counted'; readonly bytes: <T>(counting: Counting<T>) => T }
  /** Not determined by the arguments: the cell limits the size with `context.within`. */
  | { readonly kind: 'inside' }
  /** The lambda is applied repeatedly to its last result, which is checked after every step. */
  | { readonly kind: 'steps' }

/** The parts of a call that sizes may depend on. */
export interface MadeCall {
  readonly args: readonly { readonly type: SqlType; readonly constant?: null | boolean | number | bigint | string }[]
  readonly type: SqlType
}

export const times = (factor: number, usual = factor): InProportion => ({ kind: 'times', times: factor, usual })
export const part: Makes = { kind: 'part' }
export const counted = (bytes: <T>(counting: Counting<T>) => T): Makes => ({ kind: 'counted', bytes })
export const inside: Makes = { kind: 'inside' }
export const inSteps: Makes = { kind: 'steps' }

/** The text of an array takes a few bytes for each of its numbers, and escapes letters. */
export const textTimes = (types: readonly SqlType[]): number =>
  types.some(({ kind }) => kind === 'array' || kind === 'tuple' || kind === 'map') ? 4 : 1

/** A part of a text takes at least one byte of it, and seventeen as an item of an array. Usually parts have several letters. */
const [perItem, usualPerItem] = [17, 5]
/** The parts of a text, times a factor. */
export const parts = (copies = 1): InProportion => ({ kind: 'times', times: perItem * copies, usual: usualPerItem * copies })

/** Bytes of the reference to a text, an array or a map. */
export const headBytes = 16

/** Bytes of a value of this type; null if they depend on the value. */
export function fixedBytes(type: SqlType): number | null {
  if (type.kind === 'tuple') {
    const parts = type.items.map(fixedBytes)
    return parts.includes(null) ? null : parts.reduce<number>((sum, bytes) => sum + bytes!, 0)
  }
  if (type.kind !== 'scalar') return type.kind === 'lambda' ? 0 : null
  if (texts.has(type.name)) return null
  if (isProperty(type)) return type.property.numbers === 'all' ? 8 : null
  return wide.has(type.name) ? 16 : 8
}
const texts: ReadonlySet<string> = new Set(['String', 'JSON', 'Dynamic', 'IPv4', 'IPv6'])
const wide: ReadonlySet<string> = new Set(['UUID', 'Decimal', 'Interval', 'Int128', 'Int256', 'UInt128', 'UInt256'])

/** The smallest size of an item of this type. */
export const leastBytes = (type: SqlType): number =>
  type.kind === 'tuple'
    ? Math.max(
        8,
        type.items.reduce((sum, item) => sum + leastBytes(item), 0),
      )
    : (fixedBytes(type) ?? headBytes)
