import { createHash } from 'node:crypto'
import type { Selection, SelectionPart } from '../lists/selections.ts'
import { type ArrayType, sharedArray } from '../lists/shared-array.ts'
import type { EventBits, Fold, ListView, Matching } from './fold.ts'
import { Matches } from './matches.ts'

/** Entries for persons who outgrow theirs, besides a share of all. */
const fewEntries = 256

// Finds the events that meet the conditions of a fold, so that the next ones with these conditions only read them.

export const selectionFold: Fold<Matching, Selection> = {
  name: 'selection',
  over: 'persons',
  *run(lists, matching, from, to) {
    const matches = new Matches(matching)
    const [index, time, bits] = [new Pieces<Int32Array>(), new Pieces<Float64Array>(), new Pieces<Int32Array>()]
    const further = matching.further && new Pieces<Int32Array>()
    const counts = new Int32Array(to - from)
    let all = 0
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      const { rows } = matches
      for (let row = 0; row < rows; row++) all |= matches.bits[row]!
      index.add(matches.index, rows)
      time.add(matches.time, rows)
      bits.add(matches.bits, rows)
      further?.add(matches.further!, rows)
      for (let at = 0; at < matches.persons; at++) counts[matches.person[at]! - from] = matches.offsets[at + 1]! - matches.offsets[at]!
      yield
    }
    const places = placesOf(counts)
    const { length } = places
    const part: SelectionPart = {
      from,
      to,
      ...places.of,
      index: index.placed(Int32Array, counts, places.of, length),
      time: time.placed(Float64Array, counts, places.of, length, Number.NEGATIVE_INFINITY),
      bits: all >>> 8 === 0 ? bits.placed(Uint8Array, counts, places.of, length) : bits.placed(Int32Array, counts, places.of, length),
      further: further?.placed(Int32Array, counts, places.of, length) ?? null,
    }
    return [part]
  },
  join: (parts) => parts.flat(),
}

type Values = Uint8Array | Int32Array | Float64Array

/** Where the events of each person go, with free entries for the next ones, and behind all for persons who outgrow theirs. */
function placesOf(counts: Int32Array) {
  const [start, end, room] = [0, 1, 2].map(() => sharedArray(Int32Array, counts.length)) as [Int32Array, Int32Array, Int32Array]
  let used = 0
  for (let person = 0; person < counts.length; person++) {
    const events = counts[person]!
    room[person] = events === 0 ? 0 : events + 1 + (events >> 4)
    start[person] = used
    end[person] = used + events
    used += room[person]!
  }
  return { of: { start, end, room, used }, length: used + (used >> 3) + fewEntries }
}

/** Copies of parts of an array that is reused. */
class Pieces<V extends Values> {
  private readonly pieces: V[] = []

  add(values: V, rows: number): void {
    this.pieces.push(values.slice(0, rows) as V)
  }

  /** The values of each person at its place. */
  placed<W extends Values>(Type: ArrayType<W>, counts: Int32Array, { start }: Pick<SelectionPart, 'start'>, length: number, free = 0): W {
    const all = sharedArray(Type, length)
    if (free !== 0) all.fill(free)
    let piece = 0
    let at = 0
    for (let person = 0; person < counts.length; person++) {
      const events = counts[person]!
      if (events === 0) continue
      if (at === this.pieces[piece]!.length) {
        piece++
        at = 0
      }
      const values = this.pieces[piece]!
      for (let i = 0, to = start[person]!; i < events; i++) all[to + i] = values[at + i]!
      at += events
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
