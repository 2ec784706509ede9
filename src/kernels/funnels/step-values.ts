import { Ints } from '../grow.ts'
import type { ActorColumns } from './columns.ts'

// With the attribution to a step an actor is walked once for each value seen at the step. Most of the events often serve that step and no other, each
// with a value of its own: only the walk of that value needs to read them. So each walk gets the events that all need and those of its value.

const eventsBetweenPauses = 1 << 17

/** The events of one walk, and where each stands among all. */
export interface OwnColumns extends ActorColumns {
  readonly places: Int32Array
}

export class StepValues {
  private readonly shared = new Ints(64)
  /** By value, in the order in which the values come. */
  private readonly own = new Map<number, Ints>()
  private columns: OwnColumns

  constructor(
    private readonly events: ActorColumns,
    private readonly bit: number,
    private readonly known: number,
  ) {
    this.columns = this.room(64)
  }

  /** Deals out the events of an actor and returns the values. Pauses now and then. */
  *open(start: number, end: number): Generator<void, readonly number[], void> {
    const { steps, breakdown } = this.events
    this.shared.length = 0
    this.own.clear()
    for (let i = start; i < end; i++) {
      if ((i - start) % eventsBetweenPauses === eventsBetweenPauses - 1) yield
      if ((steps[i]! & this.bit) === 0) {
        this.shared.push(i)
        continue
      }
      const value = breakdown![i]!
      let list = this.own.get(value)
      if (!list) {
        list = new Ints(8)
        this.own.set(value, list)
      }
      if (this.servesOnlyItsValue(i, start, end)) list.push(i)
      else this.shared.push(i)
    }
    return [...this.own.keys()]
  }

  /** Reading all events for each value costs less where most of them are shared: these are copied before they are walked. */
  isWorthwhile(start: number, end: number): boolean {
    return this.own.size > 1 && 2 * this.own.size * this.shared.length + 2 * (end - start) < this.own.size * (end - start)
  }

  /** The events of a value's walk by time. The memory is used again for the next one. */
  columnsOf(value: number): { readonly columns: OwnColumns; readonly end: number } {
    const [shared, own] = [this.shared.view(), this.own.get(value)!.view()]
    const end = shared.length + own.length
    if (this.columns.time.length < end) this.columns = this.room(2 * end)
    const { time, steps, exclusions, breakdown, places } = this.columns
    let [a, b] = [0, 0]
    for (let to = 0; to < end; to++) {
      // Places are in order of time.
      const place = b === own.length || (a < shared.length && shared[a]! < own[b]!) ? shared[a++]! : own[b++]!
      places[to] = place
      time[to] = this.events.time[place]!
      steps[to] = this.events.steps[place]!
      breakdown![to] = this.events.breakdown![place]!
      if (exclusions) exclusions[to] = this.events.exclusions![place]!
    }
    return { columns: this.columns, end }
  }

  /** The event serves no other step, excludes nothing and is alone in its instant: a walk with another value would pass it by. */
  private servesOnlyItsValue(i: number, start: number, end: number): boolean {
    const { time, steps, exclusions } = this.events
    if ((steps[i]! & this.known) !== this.bit || (exclusions !== null && exclusions[i] !== 0)) return false
    return (i === start || time[i - 1] !== time[i]) && (i + 1 === end || time[i + 1] !== time[i])
  }

  private room(size: number): OwnColumns {
    return {
      actors: 1,
      offsets: Int32Array.of(0, size),
      time: new Float64Array(size),
      steps: new Int32Array(size),
      exclusions: this.events.exclusions && new Int32Array(size),
      breakdown: new Int32Array(size),
      origin: null,
      places: new Int32Array(size),
    }
  }
}
