import { createHash } from 'node:crypto'
import type { Selection, SelectionPart } from '../lists/selections.ts'
import { type ArrayType, sharedArray } from '../lists/shared-array.ts'
import type { EventBits, Fold, ListView, Matching } from './fold.ts'
import { Matches } from './matches.ts'

// Finds the events that meet the conditions of a fold, so that the next ones with these conditions only read them.

export const selectionFold: Fold<Matching, Selection> = {
  name: 'selection',
  over: 'persons',
  *run(lists, matching, from, to) {
    const matches = new Matches(matching)
    const [index, time, bits] = [new Pieces<Int32Array>(), new Pieces<Float64Array>(), new Pieces<Int32Array>()]
    const further = matching.further && new Pieces<Int32Array>()
    const offsets = sharedArray(Int32Array, to - from + 1)
    let all = 0
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      const { rows } = matches
      for (let row = 0; row < rows; row++) all |= matches.bits[row]!
      index.add(matches.index, rows)
      time.add(matches.time, rows)
      bits.add(matches.bits, rows)
      further?.add(matches.further!, rows)
      for (let at = 0; at < matches.persons; at++) offsets[matches.person[at]! - from + 1] = matches.offsets[at + 1]! - matches.offsets[at]!
      yield
    }
    for (let person = 0; person < to - from; person++) offsets[person + 1]! += offsets[person]!
    const part: SelectionPart = {
      from,
      to,
      offsets,
      index: index.joined(Int32Array),
      time: time.joined(Float64Array),
      bits: all >>> 8 === 0 ? bits.joined(Uint8Array) : bits.joined(Int32Array),
      further: further?.joined(Int32Array) ?? null,
    }
    return [part]
  },
  join: (parts) => parts.flat(),
}

type Values = Uint8Array | Int32Array | Float64Array

/** Copies of parts of an array that is reused. */
class Pieces<V extends Values> {
  private readonly pieces: V[] = []
  private length = 0

  add(values: V, rows: number): void {
    this.pieces.push(values.slice(0, rows) as V)
    this.length += rows
  }

  joined<W extends Values>(Type: ArrayType<W>): W {
    const all = sharedArray(Type, this.length)
    let at = 0
    for (const piece of this.pieces) {
      all.set(piece, at)
      at += piece.length
    }
    return all
  }
}

/** The conditions on events alone, at any time. Null: every event is taken. */
export function selectable({ scope, bits, further, takesAll }: Matching): Matching | null {
  if (takesAll) return null
  const ofEvents = <B extends EventBits | null>(one: B): B => one && { ...one, flags: one.flags.filter(({ of }) => of === 'event') }
  return {
    from: Number.NEGATIVE_INFINITY,
    to: Number.POSITIVE_INFINITY,
    scope: ofEvents(scope),
    bits: ofEvents(bits),
    further: ofEvents(further),
    takesAll,
  }
}

const numbers = new WeakMap<object, number>()
let lastNumber = 0
/** Of a shared array: another one has another number. */
function numberOf(values: { readonly buffer: object }): number {
  const known = numbers.get(values.buffer)
  if (known !== undefined) return known
  numbers.set(values.buffer, ++lastNumber)
  return lastNumber
}

/** Equal for conditions that select the same events of the same lists; short, however many names of events they have. */
export function selectionKey({ scope, bits, further }: Matching, { entry }: Pick<ListView, 'entry'>): string {
  const keyOf = (one: EventBits | null) =>
    one && [Array.from(one.byEvent), one.others, one.flags.map(({ bits: flagged, column }) => [flagged, numberOf(column.values)])]
  const text = JSON.stringify([entry && numberOf(entry), keyOf(scope), keyOf(bits), keyOf(further)])
  return createHash('sha256').update(text).digest('base64')
}
