import { type CodedEvents, PlainFold } from '../kernels/funnels/plain.ts'
import { firstSince } from './first-since.ts'
import type { ListView } from './fold.ts'
import type { ListedFunnel } from './funnel.ts'
import { personBits } from './matches.ts'

/** Events that are walked between two pauses. */
const mostWalked = 1 << 19
/** Persons who need the rules of equal times are left to the other walk. Where they are more than this share, all are. */
const mostTied = 1 / 16
const fewTied = 64

export interface PlainOutcomes {
  /** `times`: of the steps that were reached. */
  addPlain(person: number, depth: number, times: Float64Array): void
}

/** Walks the events of persons where they are, without a copy of those that match. Most persons need only a part of them. */
export class PlainFunnel {
  private walked = 0
  private tied = 0
  private readonly fold: PlainFold
  private readonly known: number

  private constructor(
    private readonly lists: ListView,
    private readonly events: CodedEvents,
    private readonly params: ListedFunnel,
  ) {
    const { steps } = params.funnel
    this.fold = new PlainFold(params.funnel)
    this.known = steps >= 32 ? -1 : (1 << steps) - 1
  }

  /** Null: the funnel has rules that this walk does not know. */
  static of(lists: ListView, params: ListedFunnel): PlainFunnel | null {
    const { matching, firstTimes, periods, splits, funnel } = params
    const { scope, further, takesAll, bits } = matching
    const isPlain = funnel.order === 'ordered' && funnel.optional === 0 && firstTimes === null && periods === null && splits.length === 0
    const isByName = lists.selection !== null || bits.flags.every(({ of }) => of === 'person')
    if (!isPlain || !isByName || scope !== null || further !== null || takesAll || lists.entry !== null) return null
    const events = codedEvents(lists, params)
    return events && new PlainFunnel(lists, events, params)
  }

  /** False: too many persons were left to the other walk. */
  get isWorthwhile(): boolean {
    return this.tied <= fewTied || this.tied <= this.walked * mostTied
  }

  /** Walks persons from `from` up to `to`, until one is left to the other walk, or for a while. Returns the next one. */
  walk(from: number, to: number, outcomes: PlainOutcomes): number {
    const { lists, events, fold, known, params } = this
    const { matching } = params
    const { selection } = lists
    const isPersonal = matching.bits.flags.some(({ of }) => of === 'person')
    const shift = selection ? selection.from : 0
    const starts = selection ? selection.offsets : lists.start
    const ends = selection ? selection.offsets.subarray(1) : lists.end
    const { time } = events
    if (!this.isWorthwhile) return from
    let scanned = 0
    for (let person = from; person < to; person++) {
      if (scanned >= mostWalked) return person
      const start = starts[person - shift]!
      const end = ends[person - shift]!
      if (start === end) continue
      const allowed = isPersonal ? known & personBits(matching.bits, person) : known
      const begun = firstSince(time, start, end, matching.from)
      const until = time[end - 1]! <= matching.to ? end : firstSince(time, begun, end, matching.to + 1)
      scanned += until - begun
      this.walked++
      const depth = fold.walk(events, begun, until, allowed)
      if (depth > 0) outcomes.addPlain(person, depth, fold.times)
      if (depth >= 0) continue
      this.tied++
      return person
    }
    return to
  }
}

/** The steps by the number of an event's name, or by the bits of a selection. Null: a table of them would be large. */
function codedEvents({ time, event, selection }: ListView, { matching: { bits } }: ListedFunnel): CodedEvents | null {
  const codes = selection ? selection.bits : event
  if (codes.BYTES_PER_ELEMENT > (selection ? 1 : 2)) return null
  const { byEvent, others } = bits
  const stepsOf = (code: number) => (selection ? code : code < byEvent.length ? byEvent[code]! : others)
  const steps = Int32Array.from({ length: 2 ** (8 * codes.BYTES_PER_ELEMENT) }, (_, code) => stepsOf(code))
  return { time: selection ? selection.time : time, codes, steps }
}
