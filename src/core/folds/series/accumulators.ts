import { keepFirsts } from '../first-times.ts'
import type { ListView, PlacedColumn } from '../fold.ts'
import type { Matches } from '../matches.ts'
import type { Accumulator } from './accumulator.ts'
import { NumberHistogram } from './number-histogram.ts'
import type { NumberOrder } from './number-order.ts'
import { RankQuantile } from './rank-quantile.ts'
import { grown, type Reducer, type Reduction, reducerOf } from './reduce.ts'
import type { Spread } from './spread.ts'
import { Windows } from './windows.ts'

/** What is counted of the matching events. */
export type SeriesValue =
  | { readonly kind: 'events' }
  /** Distinct persons of each bucket. */
  | { readonly kind: 'persons' }
  /** Each person in the bucket of its first event. */
  | { readonly kind: 'sightings' }
  /** Distinct persons of windows that may overlap. Each starts and ends after the one before. */
  | { readonly kind: 'windows'; readonly begins: Float64Array; readonly ends: Float64Array }
  /** A number of each event. */
  | { readonly kind: 'numbers'; readonly number: PlacedColumn; readonly reduction: Reduction }
  /** A number that all events of a person share, once for each bucket with one of them. */
  | { readonly kind: 'numbers of persons'; readonly number: PlacedColumn; readonly reduction: Reduction }
  /** Quantiles of the numbers of events. `order`: of coded numbers. */
  | { readonly kind: 'quantiles'; readonly number: PlacedColumn; readonly order: NumberOrder | null; readonly spread: Spread }
  /** The number of events of each person in a bucket. */
  | { readonly kind: 'events per person'; readonly reduction: Reduction }
  /** Persons whose first event that meets bit 0 is not before `from`, and one of whose events of that time meets bit 1. */
  | { readonly kind: 'first times'; readonly from: number }

/** Counts of all numbers in all cells. */
const mostCounts = 1 << 18

/** `groups`: there can be no more. */
export function accumulatorOf(value: SeriesValue, size: number, groups: number): Accumulator {
  switch (value.kind) {
    case 'events':
      return new Events(size)
    case 'persons':
      return new Persons(size, size)
    case 'sightings':
      return new Persons(size, 1)
    case 'windows':
      return new Windows(value.begins, value.ends)
    case 'numbers':
      return new Numbers(size, value.number, reducerOf(value.reduction))
    case 'numbers of persons':
      return new NumbersOfPersons(size, value.number, reducerOf(value.reduction))
    case 'quantiles':
      return quantilesOf(value, size, groups)
    case 'events per person':
      return new EventsPerPerson(size, reducerOf(value.reduction))
    case 'first times':
      return new FirstTimes(size, value.from)
  }
}

function quantilesOf({ number, order, spread }: Extract<SeriesValue, { kind: 'quantiles' }>, size: number, groups: number): Accumulator {
  if (isFew(number, size * groups)) return new NumberHistogram(size, number, spread)
  return order ? new RankQuantile(size, number, order, spread) : new Numbers(size, number, reducerOf(spread))
}

const isFew = ({ column: { numbers } }: PlacedColumn, cells: number) => numbers !== null && numbers.length * cells <= mostCounts

/** Adds up counts per cell. */
abstract class Counts implements Accumulator<Float64Array> {
  readonly kept = 0
  protected counts: Float64Array = new Float64Array(0)
  constructor(protected readonly size: number) {}

  grow(groups: number): void {
    this.counts = grown(this.counts, groups * this.size)
  }

  abstract add(matches: Matches, bucketOf: Int32Array, groupOf: Int32Array): void

  state(groups: number): Float64Array {
    return this.counts.slice(0, groups * this.size)
  }

  restore(counts: Float64Array): void {
    this.counts = counts
  }

  absorb(counts: Float64Array, groupOf: Int32Array): void {
    const { size } = this
    for (let group = 0; group < groupOf.length; group++)
      for (let bucket = 0; bucket < size; bucket++) this.counts[groupOf[group]! * size + bucket]! += counts[group * size + bucket]!
  }

  finish(groups: number): Float64Array {
    return this.counts.subarray(0, groups * this.size)
  }
}

class Events extends Counts {
  add({ rows }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    const { counts, size } = this
    for (let row = 0; row < rows; row++) if (bucketOf[row]! >= 0) counts[groupOf[row]! * size + bucketOf[row]!]!++
  }
}

/** Counts each person once in each bucket, or once in all. */
class Persons extends Counts {
  /** The last person that was counted, by cell or by group. */
  private last: Float64Array = new Float64Array(0)

  constructor(
    size: number,
    private readonly cellsPerGroup: number,
  ) {
    super(size)
  }

  override grow(groups: number): void {
    super.grow(groups)
    this.last = grown(this.last, groups * this.cellsPerGroup, -1)
  }

  add({ persons, person, offsets }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    const { counts, last, size, cellsPerGroup } = this
    if (last.length === cellsPerGroup) {
      this.addInOrder({ persons, offsets }, bucketOf)
      return
    }
    for (let at = 0; at < persons; at++) {
      const who = person[at]!
      for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
        const bucket = bucketOf[row]!
        if (bucket < 0) continue
        const cell = groupOf[row]! * size + bucket
        const seen = cellsPerGroup === 1 ? groupOf[row]! : cell
        if (last[seen] === who) continue
        last[seen] = who
        counts[cell]!++
      }
    }
  }

  /** Of one group: buckets do not decrease from a person's event to the next one. */
  private addInOrder({ persons, offsets }: Pick<Matches, 'persons' | 'offsets'>, bucketOf: Int32Array): void {
    const { counts, cellsPerGroup } = this
    for (let at = 0; at < persons; at++) {
      const end = offsets[at + 1]!
      let last = -1
      for (let row = offsets[at]!; row < end; row++) {
        const bucket = bucketOf[row]!
        if (bucket <= last) continue
        counts[bucket]!++
        if (cellsPerGroup === 1) break
        last = bucket
      }
    }
  }
}

/** Passes numbers on to a reducer. */
abstract class Reduced<S> implements Accumulator<S> {
  constructor(
    protected readonly size: number,
    protected readonly reducer: Reducer<S>,
  ) {}

  get kept(): number {
    return this.reducer.kept
  }

  grow(groups: number): void {
    this.reducer.grow(groups * this.size)
  }

  abstract add(matches: Matches, bucketOf: Int32Array, groupOf: Int32Array): void

  state(groups: number): S {
    return this.reducer.state(groups * this.size)
  }

  restore(state: S): void {
    this.reducer.restore(state)
  }

  absorb(state: S, groupOf: Int32Array): void {
    const { size } = this
    this.reducer.absorb(state, (cell) => groupOf[Math.floor(cell / size)]! * size + (cell % size))
  }

  *prepare(groups: number): Generator<void, void, void> {
    if (this.reducer.prepare) yield* this.reducer.prepare(groups * this.size)
  }

  finish(groups: number): Float64Array {
    return this.reducer.finish(groups * this.size)
  }
}

class Numbers<S> extends Reduced<S> {
  constructor(
    size: number,
    private readonly number: PlacedColumn,
    reducer: Reducer<S>,
  ) {
    super(size, reducer)
  }

  add({ persons, person, offsets, index }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    const { reducer, size } = this
    const { of } = this.number
    const { values, numbers } = this.number.column
    for (let at = 0; at < persons; at++)
      for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
        if (bucketOf[row]! < 0) continue
        const value = values[of === 'event' ? index[row]! : person[at]!]!
        reducer.add(groupOf[row]! * size + bucketOf[row]!, numbers === null ? value : numbers[value]!)
      }
  }
}

class NumbersOfPersons<S> extends Reduced<S> {
  /** The last person that was counted, by cell. */
  private last: Float64Array = new Float64Array(0)

  constructor(
    size: number,
    private readonly number: PlacedColumn,
    reducer: Reducer<S>,
  ) {
    super(size, reducer)
  }

  override grow(groups: number): void {
    super.grow(groups)
    this.last = grown(this.last, groups * this.size, -1)
  }

  add({ persons, person, offsets, index }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    const { last, reducer, size } = this
    const { of } = this.number
    const { values, numbers } = this.number.column
    for (let at = 0; at < persons; at++)
      for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
        if (bucketOf[row]! < 0) continue
        const cell = groupOf[row]! * size + bucketOf[row]!
        if (last[cell] === person[at]) continue
        last[cell] = person[at]!
        const value = values[of === 'event' ? index[row]! : person[at]!]!
        reducer.add(cell, numbers === null ? value : numbers[value]!)
      }
  }
}

class EventsPerPerson<S> extends Reduced<S> {
  /** The events of the current person, by cell. */
  private counts: Float64Array = new Float64Array(0)

  override grow(groups: number): void {
    super.grow(groups)
    this.counts = grown(this.counts, groups * this.size)
  }

  add({ persons, offsets }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    const { counts, reducer, size } = this
    for (let at = 0; at < persons; at++) {
      const [from, to] = [offsets[at]!, offsets[at + 1]!]
      for (let row = from; row < to; row++) if (bucketOf[row]! >= 0) counts[groupOf[row]! * size + bucketOf[row]!]!++
      for (let row = from; row < to; row++) {
        if (bucketOf[row]! < 0) continue
        const cell = groupOf[row]! * size + bucketOf[row]!
        if (counts[cell] === 0) continue
        reducer.add(cell, counts[cell]!)
        counts[cell] = 0
      }
    }
  }
}

class FirstTimes extends Events {
  constructor(
    size: number,
    private readonly from: number,
  ) {
    super(size)
  }

  select(lists: ListView, matches: Matches): void {
    keepFirsts(lists, matches, this.from)
  }
}
