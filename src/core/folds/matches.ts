import { firstSince } from '../lists/first-since.ts'
import type { SelectionPart } from '../lists/selections.ts'
import { EventSearch } from '../simd/search.ts'
import type { EventBits, ListView, Matching } from './fold.ts'
import { FoundRun } from './found-run.ts'
import { anyBits, bitsOfName, columnsForAll, onlyMask, personBits } from './person-bits.ts'

// The first half of every fold: which events count, of some persons or entries at a time. The block that holds them is reused.

/** Events that are folded inside the processor's cache. */
const blockRows = 1 << 15
/** The same of events that are read where they are. */
const takenRows = 1 << 13
/** Events that are looked at between two pauses. */
const mostScanned = 1 << 19

export class Matches {
  private readonly matching: Matching
  private nameMatches: Uint8Array | null = null
  /** Undefined: not asked for yet. */
  private run: FoundRun | null | undefined
  private search: EventSearch | null = null
  /** The bits of each name that may meet any; 0: names differ. */
  private readonly onlyMask: number
  /** Columns that the search has looked at. */
  private readonly searched: readonly Uint8Array[]
  rows = 0
  /** Index of each event in the lists. */
  index: Int32Array = new Int32Array(blockRows)
  time: Float64Array = new Float64Array(blockRows)
  bits: Int32Array = new Int32Array(blockRows)
  further: Int32Array | null
  /** The number of persons. Those without a matching event are left out. */
  persons = 0
  /** Their numbers. */
  person: Int32Array = new Int32Array(1024)
  /** The events of the person at `p` are `offsets[p]` to `offsets[p + 1]`. */
  offsets: Int32Array = new Int32Array(1025)

  constructor(matching: Matching) {
    this.matching = matching
    this.onlyMask = onlyMask(matching.bits)
    this.searched = columnsForAll(matching) ?? []
    this.further = matching.further && new Int32Array(blockRows)
  }

  /** Takes persons from a number on, before `end`, until the block is full. Returns the first one that is left. */
  fill(lists: ListView, first: number, end: number): number {
    if (lists.selection !== null) return this.read(lists.selection, first, end)
    if (this.run === undefined) this.run = FoundRun.of(lists, this.matching)
    if (this.run?.isTooFull) this.run = null
    return this.run ? this.readRun(this.run, first, end) : this.find(lists, first, end)
  }

  /** The same of events that kernels find. */
  private readRun(run: FoundRun, first: number, end: number): number {
    const { from, to, bits: wanted } = this.matching
    const isPersonal = wanted.flags.some(({ of }) => of === 'person')
    this.persons = 0
    let rows = 0
    let scanned = 0
    let person = first
    for (; person < end && rows < blockRows / 2 && scanned < mostScanned; person++) {
      if (person >= run.end) scanned += run.next(person, end)
      let at = run.starts[person - run.first]!
      let last = run.ends[person - run.first]!
      if (at === last) continue
      const { index: indexes, time: times, codes } = run
      at = firstSince(times, at, last, from)
      if (!(times[last - 1]! <= to)) last = firstSince(times, at, last, to + 1)
      const allowed = isPersonal ? personBits(wanted, person) : -1
      this.makeRoom(rows + last - at + 1)
      const { index, time, bits } = this
      const begin = rows
      for (; at < last; at++) {
        const mask = bitsOfName(wanted, codes[at]!) & allowed
        index[rows] = indexes[at]!
        time[rows] = times[at]!
        bits[rows] = mask
        rows += (mask | -mask) >>> 31
      }
      if (rows === begin) continue
      this.person[this.persons] = person
      this.offsets[++this.persons] = rows
      if (this.persons === this.person.length) this.widen()
    }
    this.rows = rows
    return person
  }

  private find(lists: ListView, first: number, end: number): number {
    const { from, to, scope, bits: wanted, further: also, takesAll } = this.matching
    const { start: starts, end: ends, time, event, entry, extent } = lists
    const { byEvent, others, flags } = wanted
    /** Times are whole microseconds. */
    const afterTo = to + 1
    const isPlain = entry === null && scope === null && also === null && flags.length === 0 && !takesAll
    const isPersonal = [scope, wanted, also].some((one) => one?.flags.some((flag) => flag.of === 'person'))
    const [anyWanted, anyFurther] = [anyBits(wanted), also ? anyBits(also) : 0]
    this.persons = 0
    let rows = 0
    let scanned = 0
    let person = first
    for (; person < end && rows < blockRows / 2 && scanned < mostScanned; person++) {
      const last = ends[person]!
      if (starts[person] === last) continue
      if (extent !== null && (extent.lastTime[person]! < from || extent.firstTime[person]! > to)) continue
      scanned += last - starts[person]!
      if (
        isPersonal &&
        !takesAll &&
        (anyWanted & personBits(wanted, person)) === 0 &&
        (!also || (anyFurther & personBits(also, person)) === 0)
      )
        continue
      if (scope !== null && isPersonal && (personBits(scope, person) & 1) === 0) continue
      this.makeRoom(rows + last - starts[person]! + 1)
      const { index, bits, further } = this
      const begin = rows
      const begun = entry === null ? firstSince(time, starts[person]!, last, from) : starts[person]!
      const until = entry !== null || time[last - 1]! <= to ? last : firstSince(time, begun, last, afterTo)
      if (isPlain) {
        // Without a branch: whether an event matches cannot be predicted.
        for (let i = begun; i < until; i++) {
          const id = event[i]!
          const mask = id < byEvent.length ? byEvent[id]! : others
          index[rows] = i
          bits[rows] = mask
          rows += (mask | -mask) >>> 31
        }
      } else {
        for (let at = begun; at < until; at++) {
          const i = entry === null ? at : entry[at]!
          if (entry !== null && (time[i]! < from || time[i]! > to)) continue
          const id = event[i]!
          if (scope !== null && (bitsOf(scope, id, i, person) & 1) === 0) continue
          const mask = bitsOf(wanted, id, i, person)
          const more = also === null ? 0 : bitsOf(also, id, i, person)
          if ((mask | more) === 0 && !takesAll) continue
          index[rows] = i
          bits[rows] = mask
          if (further !== null) further[rows] = more
          rows++
        }
      }
      if (rows === begin) continue
      this.person[this.persons] = person
      this.offsets[++this.persons] = rows
      if (this.persons === this.person.length) this.widen()
    }
    this.rows = rows
    this.readTimes(time)
    return person
  }

  /** The same for a selection of the events. Conditions on persons are not part of it. */
  private read(selection: SelectionPart, first: number, end: number): number {
    const { from, to, scope, bits: wanted, further: also } = this.matching
    const { start: starts, end: ends, index: indexes, time: times, bits: masks, further: others } = selection
    const isPersonal = [scope, wanted, also].some((one) => one?.flags.some((flag) => flag.of === 'person'))
    this.persons = 0
    let rows = 0
    let person = first
    for (; person < end && rows < blockRows / 2; person++) {
      let at = starts[person - selection.from]!
      let last = ends[person - selection.from]!
      if (at === last) continue
      if (times[at]! < from) at = firstSince(times, at, last, from)
      if (at < last && times[last - 1]! > to) last = firstSince(times, at, last, to + 1)
      if (at >= last) continue
      let [bitsOfPerson, furtherOfPerson] = [-1, -1]
      if (isPersonal) {
        if (scope !== null && (personBits(scope, person) & 1) === 0) continue
        bitsOfPerson = personBits(wanted, person)
        if (also !== null) furtherOfPerson = personBits(also, person)
      }
      this.makeRoom(rows + last - at)
      const { index, time, bits, further } = this
      const begin = rows
      for (; at < last; at++) {
        const mask = masks[at]! & bitsOfPerson
        index[rows] = indexes[at]!
        time[rows] = times[at]!
        bits[rows] = mask
        if (further === null) {
          rows += (mask | -mask) >>> 31
          continue
        }
        const more = others![at]! & furtherOfPerson
        further[rows] = more
        if ((mask | more) !== 0) rows++
      }
      if (rows === begin) continue
      this.person[this.persons] = person
      this.offsets[++this.persons] = rows
      if (this.persons === this.person.length) this.widen()
    }
    this.rows = rows
    return person
  }

  /**
   * Takes events of a selection from a number on, before `end`, whatever their time: nothing is copied. Returns the first one that is left. The rows belong
   * to no person, but to one list.
   */
  take({ index, time }: SelectionPart, first: number, end: number): number {
    const last = Math.min(end, first + takenRows)
    this.index = index.subarray(first, last)
    this.time = time.subarray(first, last)
    this.rows = last - first
    this.persons = 1
    this.offsets[1] = this.rows
    return last
  }

  private readTimes(time: Float64Array): void {
    const { index, rows } = this
    for (let row = 0; row < rows; row++) this.time[row] = time[index[row]!]!
  }

  /**
   * Takes entries from a number on, before `end`. Returns the first one that is left. For conditions that read events only: the rows belong to no
   * person, but to one list, so that columns of events can be read in the same way.
   */
  fillEntries({ time, event }: ListView, first: number, end: number): number {
    const { from, to, bits: wanted } = this.matching
    const { byEvent, others, flags } = wanted
    const last = Math.min(end, first + blockRows)
    const { index, bits } = this
    const rows = this.searchEntries(event, first, last)
    const mask = this.search?.isExact ? this.onlyMask : 0
    if (mask !== 0) bits.fill(mask, 0, rows)
    else
      for (let row = 0; row < rows; row++) {
        const id = event[index[row]!]!
        bits[row] = id < byEvent.length ? byEvent[id]! : others
      }
    for (const { bits: flagged, column } of flags) {
      const { values } = column
      if (hasShortNames(event) && this.searched.some((one) => one === values)) continue
      for (let row = 0; row < rows; row++) if (values[index[row]!] !== 1) bits[row]! &= ~flagged
    }
    const times = this.time
    // Nothing else happens in this loop: most times have to come from memory, many at once.
    for (let row = 0; row < rows; row++) times[row] = time[index[row]!]!
    let kept = 0
    for (let row = 0; row < rows; row++) {
      const at = times[row]! // NaN is not in the range
      index[kept] = index[row]!
      bits[kept] = bits[row]!
      times[kept] = at
      kept += at >= from && at <= to && bits[row] !== 0 ? 1 : 0
    }
    this.rows = kept
    this.persons = 1
    this.offsets[1] = kept
    return last
  }

  /** Writes the index of entries whose name may meet a bit. Returns how many. */
  private searchEntries(event: ListView['event'], first: number, last: number): number {
    const { index } = this
    if (hasShortNames(event)) {
      const { byEvent, others } = this.matching.bits
      this.search ??= new EventSearch(event, byEvent, others, this.searched)
      const rows = this.search.run(first, last)
      const { found } = this.search
      for (let row = 0; row < rows; row++) index[row] = first + found[row]!
      return rows
    }
    const mayMatch = this.namesThatMatch(event)
    let rows = 0
    for (let i = first; i < last; i++) {
      index[rows] = i
      rows += mayMatch[event[i]!]!
    }
    return rows
  }

  /** By number of a name, 1 if any bit may hold. */
  private namesThatMatch(event: ListView['event']): Uint8Array {
    if (this.nameMatches) return this.nameMatches
    const { byEvent, others } = this.matching.bits
    let most = byEvent.length
    if (event.BYTES_PER_ELEMENT < 4) most = 2 ** (8 * event.BYTES_PER_ELEMENT)
    else for (let i = 0; i < event.length; i++) if (event[i]! >= most) most = event[i]! + 1
    this.nameMatches = Uint8Array.from({ length: most }, (_, id) => ((id < byEvent.length ? byEvent[id]! : others) === 0 ? 0 : 1))
    return this.nameMatches
  }

  private makeRoom(rows: number): void {
    if (rows <= this.index.length) return
    const length = Math.max(rows, this.index.length * 2)
    this.index = longer(this.index, length)
    this.time = longer(this.time, length)
    this.bits = longer(this.bits, length)
    this.further = this.further && longer(this.further, length)
  }

  private widen(): void {
    this.person = longer(this.person, this.person.length * 2)
    this.offsets = longer(this.offsets, this.person.length + 1)
  }
}

/** Names of one or two bytes, which can be searched for. */
const hasShortNames = (event: ListView['event']): event is Uint8Array | Uint16Array =>
  event instanceof Uint8Array || event instanceof Uint16Array

/** The conditions that an event meets. */
export function bitsOf({ byEvent, others, flags }: EventBits, event: number, index: number, person: number): number {
  let bits = event < byEvent.length ? byEvent[event]! : others
  if (bits === 0) return 0
  for (let f = 0; f < flags.length; f++) {
    const flag = flags[f]!
    if ((bits & flag.bits) !== 0 && flag.column.values[flag.of === 'event' ? index : person] !== 1) bits &= ~flag.bits
  }
  return bits
}

function longer<V extends Int32Array | Float64Array>(values: V, length: number): V {
  const copy = new (values.constructor as new (length: number) => V)(length)
  copy.set(values)
  return copy
}
