import { noValue } from '../kernels/funnels/fold.ts'
import { PlainFold } from '../kernels/funnels/plain.ts'
import type { ListView } from './fold.ts'
import type { ListedFunnel } from './listed-funnel.ts'
import { PersonEvents } from './person-events.ts'

/** Events that are walked between two pauses; a person without any takes time, too. */
const mostWalked = 1 << 19
const walkedPerPerson = 16
/** Persons who need the rules of equal times are left to the other walk. Where they are more than this share, all are. */
const mostTied = 1 / 16
const fewTied = 64

/** The number of an event's breakdown value. */
type ValueAt = (index: number, person: number) => number

export interface PlainOutcomes {
  /** `value`: -1 without splits. `times`: of the steps that were reached. */
  addPlain(person: number, value: number, depth: number, times: Float64Array): void
}

/** Walks the events of persons where they are, without a copy of those that match. Most persons need only a part of them. */
export class PlainFunnel {
  private walked = 0
  private tied = 0
  private readonly fold: PlainFold
  private readonly known: number

  private constructor(
    private readonly events: PersonEvents,
    { funnel }: ListedFunnel,
    private readonly valueAt: ValueAt | null,
  ) {
    this.fold = new PlainFold(funnel)
    this.known = funnel.steps >= 32 ? -1 : (1 << funnel.steps) - 1
  }

  /** Null: the funnel has rules that this walk does not know. */
  static of(lists: ListView, params: ListedFunnel, valueAt: ValueAt, limit = lists.persons): PlainFunnel | null {
    const { firstTimes, periods, splits, funnel, matching } = params
    if (funnel.order !== 'ordered' || funnel.optional !== 0 || firstTimes !== null || periods !== null) return null
    if (splits.length > 0 && funnel.attribution.type !== 'first_touch') return null
    const events = PersonEvents.of(lists, matching, limit, true)
    return events && new PlainFunnel(events, params, splits.length > 0 ? valueAt : null)
  }

  /** False: too many persons were left to the other walk. */
  get isWorthwhile(): boolean {
    return this.tied <= fewTied || this.tied <= this.walked * mostTied
  }

  /** Walks persons from `from` up to `to`, until one is left to the other walk, or for a while. Returns the next one. */
  walk(from: number, to: number, outcomes: PlainOutcomes): number {
    if (!this.isWorthwhile) return from
    const { events, fold, known } = this
    for (let person = from, walked = 0; person < to; person++) {
      if (walked >= mostWalked) return person
      const count = events.open(person)
      walked += count + walkedPerPerson
      if (count === 0) continue
      this.walked++
      const depth = fold.walk(events, events.begin, events.end, known & events.allowed)
      if (depth === 0) continue
      const value = depth > 0 && this.valueAt !== null ? this.firstValue(person) : -1
      if (depth < 0 || value === null) {
        this.tied++
        return person
      }
      outcomes.addPlain(person, value, depth, fold.times)
    }
    return to
  }

  /** The value of the first event that has one. Null: another event has the same time. */
  private firstValue(person: number): number | null {
    const { events } = this
    for (let i = events.begin; i < events.end; i++) {
      if (!events.meetsAny(i)) continue
      const value = this.valueAt!(events.indexOf(i), person)
      if (value !== noValue) return events.isTied(i) ? null : value
    }
    return noValue
  }
}
