import type { CodedEvents } from '../kernels/funnels/plain.ts'
import { firstSince } from '../lists/first-since.ts'
import type { ListView, Matching } from './fold.ts'
import { FoundRun } from './found-run.ts'
import { personBits } from './person-bits.ts'

/**
 * The events of one person after the other. Those that kernels find are read from a copy; otherwise all of them where they are, in the lists or in a selection.
 * For conditions that the name of an event decides, or its person, or columns that are 1 for all.
 */
export class PersonEvents implements CodedEvents {
  // Another person may have other arrays.
  time: Float64Array
  codes: CodedEvents['codes']
  readonly steps: Int32Array
  /** Every event meets the same condition. */
  isUniform: boolean
  /** Of the person: where its events of the asked time begin and end, and the bits that they may meet. */
  begin = 0
  end = 0
  allowed = -1
  /** Where the events are in the lists; null: these are the lists. */
  private index: Int32Array | null
  private starts: Int32Array
  private ends: Int32Array
  private first: number
  private readonly isPersonal: boolean

  private constructor(
    private readonly lists: ListView,
    codes: CodedEvents['codes'],
    steps: Int32Array,
    private readonly matching: Matching,
    private found: FoundRun | null,
    private readonly limit: number,
  ) {
    const { start, end, time, selection } = lists
    this.time = selection ? selection.time : time
    this.codes = codes
    this.steps = steps
    this.index = selection ? selection.index : null
    this.starts = selection ? selection.start : start
    this.ends = selection ? selection.end : end
    this.first = selection ? selection.from : 0
    const { bits } = matching
    this.isPersonal = bits.flags.some(({ of }) => of === 'person')
    const masks = [...bits.byEvent, bits.others].filter((mask) => mask !== 0)
    this.isUniform = (selection !== null || found?.isExact === true) && !this.isPersonal && masks.every((mask) => mask === masks[0])
  }

  /** Of persons before `limit`. `stopsEarly`: at a part of most persons' events, so that it takes no longer to look for them. Null: the conditions, or the number of names, ask for more. */
  static of(lists: ListView, matching: Matching, limit = lists.persons, stopsEarly = false): PersonEvents | null {
    const { scope, further, takesAll, bits } = matching
    const { selection, entry, event } = lists
    if (scope !== null || further !== null || takesAll || (entry !== null && selection === null)) return null
    const isOfColumns = bits.flags.some(({ of }) => of === 'event')
    const found = stopsEarly && !isOfColumns ? null : FoundRun.of(lists, matching)
    if (selection === null && found === null && isOfColumns) return null
    const codes = selection ? selection.bits : event
    if (codes.BYTES_PER_ELEMENT > (selection ? 1 : 2)) return null // a table of them would be large
    const steps = new Int32Array(2 ** (8 * codes.BYTES_PER_ELEMENT))
    if (selection) for (let code = 0; code < steps.length; code++) steps[code] = code
    else {
      steps.fill(bits.others)
      steps.set(bits.byEvent.subarray(0, steps.length))
    }
    return new PersonEvents(lists, codes, steps, matching, found, limit)
  }

  /** Goes to a person; further ones have higher numbers. Returns the number of its events. */
  open(person: number): number {
    if (this.found !== null && person >= this.found.end) this.find(this.found, person)
    const start = this.starts[person - this.first]!
    const end = this.ends[person - this.first]!
    this.begin = this.end = start
    if (start === end) return 0
    const { time, matching } = this
    if (this.isPersonal) this.allowed = personBits(matching.bits, person)
    this.begin = firstSince(time, start, end, matching.from)
    this.end = time[end - 1]! <= matching.to ? end : firstSince(time, this.begin, end, matching.to + 1)
    return this.end - this.begin
  }

  private find(found: FoundRun, person: number): void {
    const { lists } = this
    if (found.isTooFull) {
      this.found = null
      this.time = lists.time
      this.codes = lists.event
      this.isUniform = false
      this.index = null
      this.starts = lists.start
      this.ends = lists.end
      this.first = 0
      return
    }
    found.next(person, this.limit)
    this.time = found.time
    this.codes = found.codes
    this.index = found.index
    this.starts = found.starts
    this.ends = found.ends
    this.first = found.first
  }

  /** Where an event is in the lists. */
  indexOf(event: number): number {
    return this.index === null ? event : this.index[event]!
  }

  meetsAny(event: number): boolean {
    return (this.steps[this.codes[event]!]! & this.allowed) !== 0
  }

  /** Another event of the person that meets anything has the same time. */
  isTied(event: number): boolean {
    const { time, begin, end } = this
    for (let i = event + 1; i < end && time[i] === time[event]; i++) if (this.meetsAny(i)) return true
    for (let i = event - 1; i >= begin && time[i] === time[event]; i--) if (this.meetsAny(i)) return true
    return false
  }
}
