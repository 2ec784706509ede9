import type { CodedEvents } from '../kernels/funnels/plain.ts'
import { firstSince } from '../lists/first-since.ts'
import type { ListView, Matching } from './fold.ts'
import { personBits } from './matches.ts'

/** The events of one person after the other where they are, in the lists or in a selection: nothing is copied. For conditions that the name of an event decides, or its person. */
export class PersonEvents implements CodedEvents {
  readonly time: Float64Array
  readonly codes: CodedEvents['codes']
  readonly steps: Int32Array
  /** Every event meets the same condition. */
  readonly isUniform: boolean
  /** Of the person: where its events of the asked time begin and end, and the bits that they may meet. */
  begin = 0
  end = 0
  allowed = -1
  /** Where the events of a selection are in the lists. */
  private readonly index: Int32Array | null
  private readonly starts: Int32Array
  private readonly ends: Int32Array
  private readonly first: number
  private readonly isPersonal: boolean

  private constructor(
    { start, end, time, selection }: ListView,
    codes: CodedEvents['codes'],
    steps: Int32Array,
    private readonly matching: Matching,
  ) {
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
    this.isUniform = selection !== null && !this.isPersonal && masks.every((mask) => mask === masks[0])
  }

  /** Null: the conditions, or the number of names, ask for more. */
  static of(lists: ListView, matching: Matching): PersonEvents | null {
    const { scope, further, takesAll, bits } = matching
    const { selection, entry, event } = lists
    if (scope !== null || further !== null || takesAll || (entry !== null && selection === null)) return null
    if (selection === null && bits.flags.some(({ of }) => of === 'event')) return null
    const codes = selection ? selection.bits : event
    if (codes.BYTES_PER_ELEMENT > (selection ? 1 : 2)) return null // a table of them would be large
    const steps = new Int32Array(2 ** (8 * codes.BYTES_PER_ELEMENT))
    if (selection) for (let code = 0; code < steps.length; code++) steps[code] = code
    else {
      steps.fill(bits.others)
      steps.set(bits.byEvent.subarray(0, steps.length))
    }
    return new PersonEvents(lists, codes, steps, matching)
  }

  /** Goes to a person. Returns the number of its events. */
  open(person: number): number {
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
