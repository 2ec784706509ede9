import { firstSince } from '../lists/first-since.ts'
import { kernelsFor, mostSearched } from '../simd/kernels.ts'
import { EventSearch } from '../simd/search.ts'
import type { ListView, Matching } from './fold.ts'
import { anyBits, columnsForAll, personBits } from './person-bits.ts'

/** A longer list is searched alone, and only where its events have the asked time. */
const longList = 1 << 11
/** Entries between two lists that are searched in vain. */
const mostGap = 1 << 10
/** Of events that match. */
const mostShare = 0.6

/** The events of consecutive persons that meet the conditions on events, at any time: found by kernels in lists that lie one behind the other, and copied. */
export class FoundRun {
  /** Numbers of the persons: from the first one up to another. */
  first = 0
  end = 0
  /** The events of the person `first + p` are `starts[p]` to `ends[p]`. */
  starts: Int32Array = new Int32Array(1024)
  ends: Int32Array = new Int32Array(1024)
  /** Where each is in the lists. */
  index: Int32Array = new Int32Array(1024)
  time: Float64Array = new Float64Array(1024)
  codes: Uint8Array | Uint16Array
  /** Most events match: a look at each of them takes no longer. */
  isTooFull = false
  private rows = 0
  private readonly search: EventSearch
  private readonly isPersonal: boolean
  private readonly any: number
  private readonly hasColumns: boolean

  private constructor(
    private readonly lists: ListView,
    private readonly names: Uint8Array | Uint16Array,
    private readonly matching: Matching,
    columns: readonly Uint8Array[],
  ) {
    const { bits } = matching
    this.search = new EventSearch(names, bits.byEvent, bits.others, columns)
    this.isPersonal = bits.flags.some(({ of }) => of === 'person')
    this.any = anyBits(bits)
    this.hasColumns = columns.length > 0
    this.codes = names.slice(0, 0)
    this.grow(1024)
  }

  /** Null: there are no kernels, or the conditions or the number of names ask for more. */
  static of(lists: ListView, matching: Matching): FoundRun | null {
    const { scope, further, takesAll, bits } = matching
    const { event, entry, selection } = lists
    if (kernelsFor(mostSearched) === null || scope !== null || further !== null || takesAll || entry !== null || selection !== null)
      return null
    if (!(event instanceof Uint8Array || event instanceof Uint16Array)) return null
    const columns = columnsForAll(matching)
    const isEveryName = bits.others !== 0 && bits.byEvent.every((mask) => mask !== 0)
    if (columns === null || (isEveryName && columns.length === 0)) return null
    return new FoundRun(lists, event, matching, columns)
  }

  /** Every event meets something; otherwise some have to be left out by their codes. */
  get isExact(): boolean {
    return this.search.isExact
  }

  /** Continues with persons from a number on, before `limit`: at least one. Returns how many events it has searched. */
  next(person: number, limit: number): number {
    const { start, end } = this.lists
    this.first = person
    this.rows = 0
    return end[person]! - start[person]! > longList ? this.alone(person) : this.together(person, limit)
  }

  private alone(person: number): number {
    const { time, start, end } = this.lists
    const { from, to } = this.matching
    this.end = person + 1
    this.starts[0] = 0
    const last = end[person]!
    const begun = firstSince(time, start[person]!, last, from)
    const until = time[last - 1]! <= to ? last : firstSince(time, begun, last, to + 1)
    if (!this.skips(person))
      for (let at = begun; at < until; at += mostSearched) {
        const count = this.search.run(at, Math.min(until, at + mostSearched))
        this.take(at, count)
      }
    this.ends[0] = this.rows
    return until - begun
  }

  private together(person: number, limit: number): number {
    const { start, end } = this.lists
    /** Where the first list begins, and the last one ends. */
    let base = -1
    let last = 0
    let next = person
    for (; next < limit; next++) {
      const [begin, until] = [start[next]!, end[next]!]
      if (begin === until || this.skips(next)) continue
      if (base < 0) base = last = begin
      if (begin < last || begin - last > mostGap || until - base > mostSearched || until - begin > longList) break
      last = until
    }
    this.end = next
    if (next - person > this.starts.length) {
      this.starts = new Int32Array(2 * (next - person))
      this.ends = new Int32Array(this.starts.length)
    }
    const count = base < 0 ? 0 : this.search.run(base, last)
    this.isTooFull = count > mostShare * (last - base) && !this.hasColumns
    this.take(base, count)
    const { starts, ends } = this
    const { found } = this.search
    for (let who = person, at = 0; who < next; who++) {
      const [begin, until] = [start[who]! - base, end[who]! - base]
      if (begin === until || this.skips(who)) {
        starts[who - person] = ends[who - person] = at
        continue
      }
      while (at < count && found[at]! < begin) at++ // free entries, and persons who are skipped
      starts[who - person] = at
      while (at < count && found[at]! < until) at++
      ends[who - person] = at
    }
    return last - base
  }

  /** Copies what a search of the entries from `base` on has found. */
  private take(base: number, count: number): void {
    this.grow(this.rows + count)
    const { index, codes, names, rows } = this
    const { found } = this.search
    for (let at = 0, row = rows; at < count; at++, row++) {
      const i = base + found[at]!
      index[row] = i
      codes[row] = names[i]!
    }
    const { time } = this
    const times = this.lists.time
    // Most times have to come from memory: nothing else happens in this loop, so that many come at once.
    for (let row = rows; row < rows + count; row++) time[row] = times[index[row]!]!
    this.rows += count
  }

  /** No event of the person can meet anything. */
  private skips(person: number): boolean {
    return this.isPersonal && (personBits(this.matching.bits, person) & this.any) === 0
  }

  private grow(rows: number): void {
    if (rows <= this.index.length && this.codes.length > 0) return
    const length = Math.max(rows, 2 * this.index.length)
    const { index, time, codes } = this
    this.index = new Int32Array(length)
    this.index.set(index)
    this.codes = this.names.BYTES_PER_ELEMENT === 1 ? new Uint8Array(length) : new Uint16Array(length)
    this.codes.set(codes)
    this.time = new Float64Array(length)
    this.time.set(time)
  }
}
