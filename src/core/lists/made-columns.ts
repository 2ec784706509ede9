import type { SomeColumn } from './columns.ts'
import type { ColumnType, Make } from './ports.ts'
import { type ArrayType, sharedArray } from './shared-array.ts'

// Columns that are computed from other columns, for one query.

/** What the lists say about the events of persons. */
interface Places {
  readonly start: Int32Array
  readonly end: Int32Array
  readonly persons: number
  readonly used: number
  /** Those of a page begin with a higher number than 0. */
  readonly first?: number
}

/** Bytes of a column with a value of each event, approximately. */
export const madeBytes = (type: ColumnType, { used }: Pick<Places, 'used'>): number =>
  used * { flags: 1, codes: 2, ids: 4, numbers: 4 }[type]

const valuesBetweenPauses = 1 << 20

/** A loop with pauses. */
export function* madeColumn(make: Make, columns: readonly SomeColumn[], lists: Places): Generator<void, SomeColumn, void> {
  switch (make.from) {
    case 'persons': {
      const source = columns[make.column]!
      const values = like(source.values, lists.used)
      let unpaused = 0
      for (let person = lists.first ?? 0; person < lists.persons; person++) {
        const [first, last] = [lists.start[person]!, lists.end[person]!]
        values.fill(source.values[person]!, first, last)
        unpaused += last - first + 1
        if (unpaused < valuesBetweenPauses) continue
        unpaused = 0
        yield
      }
      return { values, texts: source.texts, numbers: source.numbers }
    }
    case 'keys': {
      const [source, keys] = [columns[make.column]!, columns[make.keys]!.values]
      const values = like(source.values, lists.used)
      for (let i = 0; i < lists.used; i++) {
        values[i] = source.values[keys[i]!]!
        if (i % valuesBetweenPauses === valuesBetweenPauses - 1) yield
      }
      return { values, texts: source.texts, numbers: source.numbers }
    }
    case 'any':
    case 'all': {
      const [first, ...others] = make.columns.map((column) => columns[column]!.values)
      const values = like(first!, lists.used)
      values.set(first!.subarray(0, lists.used))
      for (const other of others) {
        yield
        if (make.from === 'any') for (let i = 0; i < lists.used; i++) values[i]! |= other[i]!
        else for (let i = 0; i < lists.used; i++) values[i]! &= other[i]!
      }
      return { values, texts: [], numbers: null }
    }
    case 'texts': {
      const { values: codes, texts } = columns[make.column]!
      const wanted = new Set(make.texts)
      const isOne = Uint8Array.from(texts, (text) => (wanted.has(text) === make.isNot ? 0 : 1))
      const values = sharedArray(Uint8Array, codes.length)
      for (let i = 0; i < codes.length; i++) {
        values[i] = isOne[codes[i]!]!
        if (i % valuesBetweenPauses === valuesBetweenPauses - 1) yield
      }
      return { values, texts: [], numbers: null }
    }
    case 'ranges': {
      const { values: given, numbers } = columns[make.column]!
      const { edges, texts, none } = make
      const rangeOf = (number: number) => (number >= edges[0]! && number < edges.at(-1)! ? lastUpTo(edges, number) : texts.length)
      const ranges = numbers && Int32Array.from(numbers, rangeOf)
      const values = texts.length < 0xff ? sharedArray(Uint8Array, given.length) : sharedArray(Uint16Array, given.length)
      for (let i = 0; i < given.length; i++) {
        values[i] = ranges ? ranges[given[i]!]! : rangeOf(given[i]!)
        if (i % valuesBetweenPauses === valuesBetweenPauses - 1) yield
      }
      return { values, texts: [...texts, none], numbers: null }
    }
  }
}

const like = (values: SomeColumn['values'], length: number): SomeColumn['values'] =>
  sharedArray(values.constructor as ArrayType<SomeColumn['values']>, length)

/** The index of the last edge that is not above the number. */
function lastUpTo(edges: readonly number[], number: number): number {
  let [low, high] = [0, edges.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (number < edges[middle]!) high = middle
    else low = middle
  }
  return low
}
