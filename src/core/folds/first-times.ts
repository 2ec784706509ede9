import type { EventBits, ListView } from './fold.ts'
import { bitsOf, type Matches } from './matches.ts'

/** Steps that only count at the time of the actor's first event with a condition. */
export interface FirstTimes {
  /** Bit `i`: the condition of the first event for `steps[i]`. */
  readonly conditions: EventBits
  readonly steps: readonly number[]
  /** Later events are not looked at. */
  readonly to: number
}

/** Clears the bits of these steps at all other times. */
export function keepFirstTimes(lists: ListView, matches: Matches, { conditions, steps, to }: FirstTimes): void {
  const { time, bits, persons, person, offsets } = matches
  const firsts = new Float64Array(steps.length)
  for (let at = 0; at < persons; at++) {
    find(lists, person[at]!, conditions, to, firsts)
    for (let row = offsets[at]!; row < offsets[at + 1]!; row++)
      for (let i = 0; i < steps.length; i++) if (time[row] !== firsts[i]) bits[row]! &= ~(1 << steps[i]!)
  }
}

function find({ start, end, time, event, entry }: ListView, person: number, conditions: EventBits, to: number, firsts: Float64Array): void {
  firsts.fill(Number.NaN)
  let missing = 2 ** firsts.length - 1
  for (let at = start[person]!; at < end[person]! && missing !== 0; at++) {
    const i = entry === null ? at : entry[at]!
    if (time[i]! > to) return
    const met = bitsOf(conditions, event[i]!, i, person) & missing
    if (met === 0) continue
    for (let bit = 0; bit < firsts.length; bit++) if ((met & (1 << bit)) !== 0) firsts[bit] = time[i]!
    missing &= ~met
  }
}

/**
 * Keeps one event of each person: its first one, if that is not before `since` and an event of that time meets bit 1. Of several, the one that arrived
 * first.
 */
export function keepFirsts({ seq }: ListView, matches: Matches, since: number): void {
  const { index, time, bits, offsets } = matches
  let kept = 0
  for (let at = 0; at < matches.persons; at++) {
    const [first, end] = [offsets[at]!, offsets[at + 1]!]
    offsets[at] = kept
    const begun = time[first]!
    if (begun < since) continue
    let found = -1
    for (let row = first; row < end && time[row] === begun; row++)
      if ((bits[row]! & 2) !== 0 && (found < 0 || seq[index[row]!]! < seq[index[found]!]!)) found = row
    if (found < 0) continue
    index[kept] = index[found]!
    bits[kept] = bits[found]!
    time[kept++] = begun
  }
  offsets[matches.persons] = kept
  matches.rows = kept
}
