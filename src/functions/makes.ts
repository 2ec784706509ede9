import { isProperty } from '../types/property-values.ts'
import type { SqlType } from '../types/types.ts'

// How much a call makes of what it takes. Sizes are bytes of one row in the engine's memory: an item of an array has its width, a text its bytes and
// sixteen for where they are.

/** Counts bytes from the arguments of a call: numbers when they are known while the statement is planned, expressions of the engine otherwise. */
export interface Counting<T> {
  number(value: number): T
  /** The number that an argument is. */
  value(position: number): T
  /** Bytes of an argument's contents. */
  bytes(position: number): T
  /** Bytes of an argument as an item of an array. */
  item(position: number): T
  /** How many of these letters are in a text. */
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
  /** At most so many bytes for each byte of the arguments together; `usual` for the texts that people store. */
  | { readonly kind: 'times'; readonly times: number; readonly usual: number }
  /** One of the arguments, or a part of it. */
  | { readonly kind: 'part' }
  /** As much as this counts. The call is refused where that is more than a row may have. */
  | { readonly kind: 'counted'; readonly bytes: <T>(counting: Counting<T>) => T }
  /** More than the arguments tell: the cell keeps it below what a row may have with `context.within`. */
  | { readonly kind: 'inside' }
  /** The lambda's value over and over, each time of the last one: looked at after every step. */
  | { readonly kind: 'steps' }

/** A call as far as its sizes depend on it. */
export interface MadeCall {
  readonly args: readonly { readonly type: SqlType; readonly constant?: null | boolean | number | bigint | string }[]
  readonly type: SqlType
}

export const times = (factor: number, usual = factor): InProportion => ({ kind: 'times', times: factor, usual })
export const part: Makes = { kind: 'part' }
export const counted = (bytes: <T>(counting: Counting<T>) => T): Makes => ({ kind: 'counted', bytes })
export const inside: Makes = { kind: 'inside' }
export const inSteps: Makes = { kind: 'steps' }

/** The text of an array has a few bytes for each of its numbers, and escaped letters. */
export const textTimes = (types: readonly SqlType[]): number =>
  types.some(({ kind }) => kind === 'array' || kind === 'tuple' || kind === 'map') ? 4 : 1

/** A part of a text is at least one byte of it, and as an item of an array seventeen. Usually parts have some letters. */
const [perItem, usualPerItem] = [17, 5]
/** The parts of a text, so many times. */
export const parts = (copies = 1): InProportion => ({ kind: 'times', times: perItem * copies, usual: usualPerItem * copies })

/** Bytes for where a text, an array or a map is. */
export const headBytes = 16

/** Bytes of a value of this type; null where that depends on the value. */
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

/** The least that an item of this type has. */
export const leastBytes = (type: SqlType): number =>
  type.kind === 'tuple'
    ? Math.max(
        8,
        type.items.reduce((sum, item) => sum + leastBytes(item), 0),
      )
    : (fixedBytes(type) ?? headBytes)
