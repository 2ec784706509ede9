import { Ints } from '../grow.ts'
import type { ActorColumns } from './columns.ts'

// With attribution to a step, an actor is walked once for each value seen at the step. Often most of the events serve only that step, each with a
// value of its own, and only the walk of that value needs them. So each walk reads the shared events and those of its value.

const eventsBetweenPauses = 1 << 17

/** The events of one walk, and their indexes among all events. */
export interface OwnColumns extends ActorColumns {
  readonly indexes: Int32Array
}

export class StepValues {
  private readonly shared = new Ints(64)
  /** By value, in order of first appearance. */
  private readonly own = new Map<number, Ints>()
  private columns: OwnColumns

  constructor(
    private readonly events: ActorColumns,
    private readonly bit: number,
    private readonly known: number,
  ) {
    this.columns = this.room(64)
  }

  /** Distributes the events of an actor and returns the values. Yields regularly. */
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

  /** Copying events before each walk pays off only if few of them are shared: otherwise every walk reads all events. */
  isWorthwhile(start: number, end: number): boolean {
    return this.own.size > 1 && 2 * this.own.size * this.shared.length + 2 * (end - start) < this.own.size * (end - start)
  }

  /** The events of a value's walk, by time. The memory is reused for the next one. */
  columnsOf(value: number): { readonly columns: OwnColumns; readonly end: number } {
    const [shared, own] = [this.shared.view(), this.own.get(value)!.view()]
    const end = shared.length + own.length
    if (this.columns.time.length < end) this.columns = this.room(2 * end)
    const { time, steps, exclusions, breakdown, indexes } = this.columns
    let [a, b] = [0, 0]
    for (let to = 0; to < end; to++) {
      // Indexes are in order of time.
      const index = b === own.length || (a < shared.length && shared[a]! < own[b]!) ? shared[a++]! : own[b++]!
      indexes[to] = index
      time[to] = this.events.time[index]!
      steps[to] = this.events.steps[index]!
      breakdown![to] = this.events.breakdown![index]!
      if (exclusions) exclusions[to] = this.events.exclusions![index]!
    }
    return { columns: this.columns, end }
  }

  /** The event matches no other step, excludes nothing and is the only one of its time: walks with other values ignore it. */
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
      indexes: new Int32Array(size),
    }
  }
}
