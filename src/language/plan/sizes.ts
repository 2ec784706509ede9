import { fixedBytes, type InProportion } from '../functions/makes.ts'
import type { TypedExpr } from '../resolver/typed.ts'
import type { SqlType } from '../types/types.ts'

// Sizes derived from other sizes.

export type SourceKind = 'column' | 'call' | 'kept' | 'each' | 'round'

/** A value whose size is known only when the rows are read. */
export interface Source {
  readonly kind: SourceKind
  readonly name: string
  /** Where the value comes from. */
  readonly node?: TypedExpr
  /** How many rows are computed at the same time, on all threads together. */
  readonly atOnce: number
  readonly captured?: readonly (readonly [TypedExpr, number])[] | null
  readonly isStep?: boolean
  readonly isSummed?: boolean
  /** Each row may hold all values of its window. */
  readonly isInWindow?: boolean
  /** Bytes that the statement produces for each byte of this source. */
  weight: number
}
/** In a lambda: an item of the arrays, or a captured value. */
export interface Seen {
  readonly kind: 'item' | 'captured'
  readonly node?: TypedExpr
  readonly from: Size
}

/** A fixed number of bytes, plus a factor for each byte of the sources. */
export interface Size {
  readonly bytes: number
  readonly of: ReadonlyMap<Source | Seen, number>
}

const noSources: Size['of'] = new Map()
export const sized = (bytes: number): Size => ({ bytes, of: noSources })
export const nothing: Size = sized(0)
export const ofSource = (source: Source | Seen): Size => ({ bytes: 0, of: new Map([[source, 1]]) })

function together(sizes: readonly Size[], join: (a: number, b: number) => number): Size {
  const of = new Map<Source | Seen, number>()
  for (const size of sizes) for (const [source, times] of size.of) of.set(source, join(of.get(source) ?? 0, times))
  return { bytes: sizes.reduce((bytes, size) => join(bytes, size.bytes), 0), of }
}
const add = (a: number, b: number): number => a + b
const most = (a: number, b: number): number => Math.max(a, b)
export const sumOf = (sizes: readonly Size[]): Size => together(sizes, add)
export const largest = (sizes: readonly Size[]): Size => together(sizes, most)
export const plus = (...sizes: Size[]): Size => sumOf(sizes)
export const larger = (...sizes: Size[]): Size => largest(sizes)
export const scaled = (size: Size, times: number): Size => ({
  bytes: size.bytes * times,
  of: new Map([...size.of].map(([source, n]) => [source, n * times])),
})

/** The size of a call's result relative to its arguments; for stored values, the usual relation. */
export const inProportion = (size: Size, { times, usual }: InProportion): Size => ({
  bytes: size.bytes * times,
  of: new Map([...size.of].map(([source, n]) => [source, n * (isStored(source) ? usual : times)])),
})
const isStored = (source: Source | Seen): boolean =>
  'from' in source ? source.from.of.size > 0 && [...source.from.of.keys()].every(isStored) : source.kind === 'column'

export const isFixed = (type: SqlType): boolean => fixedBytes(type) !== null
