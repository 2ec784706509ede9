import type { Matches } from '../matches.ts'
import type { Accumulator } from './accumulator.ts'
import { Edges } from './edges.ts'
import { grown } from './reduce.ts'

/** Counts distinct persons of windows that may overlap. */
export class Windows implements Accumulator<Float64Array> {
  readonly kept = 0
  private readonly begins: Float64Array
  private readonly beginEdges: Edges
  private readonly endEdges: Edges
  /** By row: the first window that has not ended, and the number of windows that have begun. */
  private first: Int32Array = new Int32Array(0)
  private begun: Int32Array = new Int32Array(0)
  /** By group and window: the number of persons minus that of the window before. */
  private changes: Float64Array = new Float64Array(0)
  /** By group: the last person, and the window before which it is accounted for. */
  private last: Float64Array = new Float64Array(0)
  private counted: Float64Array = new Float64Array(0)

  constructor(begins: Float64Array, ends: Float64Array) {
    this.begins = begins
    this.beginEdges = new Edges(begins)
    this.endEdges = new Edges(ends)
  }

  grow(groups: number): void {
    this.changes = grown(this.changes, groups * (this.begins.length + 1))
    this.last = grown(this.last, groups, -1)
    this.counted = grown(this.counted, groups)
  }

  add(matches: Matches, _: Int32Array, groupOf: Int32Array): void {
    const { persons, person, offsets, index } = matches
    if (this.first.length < index.length) {
      this.first = new Int32Array(index.length)
      this.begun = new Int32Array(index.length)
    }
    const { first, begun, changes, last, counted } = this
    this.endEdges.count(matches, first)
    this.beginEdges.count(matches, begun)
    const stride = this.begins.length + 1
    if (last.length === 1) {
      for (let at = 0; at < persons; at++) {
        const end = offsets[at + 1]!
        let known = 0
        for (let row = offsets[at]!; row < end; row++) {
          const until = begun[row]!
          if (until <= known) continue
          changes[first[row]! > known ? first[row]! : known]!++
          changes[until]!--
          known = until
        }
      }
      return
    }
    for (let at = 0; at < persons; at++) {
      const who = person[at]!
      for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
        const group = groupOf[row]!
        const known = last[group] === who ? counted[group]! : 0
        const next = first[row]! > known ? first[row]! : known
        if (next >= begun[row]!) continue
        changes[group * stride + next]!++
        changes[group * stride + begun[row]!]!--
        last[group] = who
        counted[group] = begun[row]!
      }
    }
  }

  state(groups: number): Float64Array {
    return this.changes.slice(0, groups * (this.begins.length + 1))
  }

  restore(changes: Float64Array): void {
    this.changes = changes
  }

  absorb(changes: Float64Array, groupOf: Int32Array): void {
    const stride = this.begins.length + 1
    for (let group = 0; group < groupOf.length; group++)
      for (let at = 0; at < stride; at++) this.changes[groupOf[group]! * stride + at]! += changes[group * stride + at]!
  }

  finish(groups: number): Float64Array {
    const windows = this.begins.length
    const counts = new Float64Array(groups * windows)
    for (let group = 0; group < groups; group++)
      for (let window = 0, count = 0; window < windows; window++) {
        count += this.changes[group * (windows + 1) + window]!
        counts[group * windows + window] = count
      }
    return counts
  }
}
