import type { PlacedColumn } from '../fold.ts'
import type { Matches } from '../matches.ts'
import type { Accumulator } from './accumulator.ts'
import { numbersInOrder, type Spread, widthOf, writeSpread } from './spread.ts'

/** Quantiles of coded numbers: how often each number occurs is enough, and no number has to be kept. */
export class NumberHistogram implements Accumulator<Uint32Array> {
  readonly kept = 0
  private counts: Uint32Array = new Uint32Array(0)
  private readonly numbers: Float64Array

  constructor(
    private readonly size: number,
    private readonly column: PlacedColumn,
    private readonly spread: Spread,
  ) {
    this.numbers = column.column.numbers!
  }

  grow(groups: number): void {
    const length = groups * this.size * this.numbers.length
    if (length <= this.counts.length) return
    const longer = new Uint32Array(Math.max(length, this.counts.length * 2))
    longer.set(this.counts)
    this.counts = longer
  }

  add({ persons, person, offsets, index }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    const { counts, size } = this
    const { of } = this.column
    const { values } = this.column.column
    const codes = this.numbers.length
    for (let at = 0; at < persons; at++)
      for (let row = offsets[at]!; row < offsets[at + 1]!; row++)
        if (bucketOf[row]! >= 0)
          counts[(groupOf[row]! * size + bucketOf[row]!) * codes + values[of === 'event' ? index[row]! : person[at]!]!]!++
  }

  state(groups: number): Uint32Array {
    return this.counts.slice(0, groups * this.size * this.numbers.length)
  }

  restore(counts: Uint32Array): void {
    this.counts = counts
  }

  absorb(counts: Uint32Array, groupOf: Int32Array): void {
    const stride = this.size * this.numbers.length
    for (let group = 0; group < groupOf.length; group++)
      for (let i = 0; i < stride; i++) this.counts[groupOf[group]! * stride + i]! += counts[group * stride + i]!
  }

  finish(groups: number): Float64Array {
    const { numbers, counts, size, spread } = this
    const inOrder = Int32Array.from(numbers.keys())
      .filter((code) => !Number.isNaN(numbers[code]!))
      .sort((a, b) => (numbers[a]! < numbers[b]! ? -1 : 1))
    const sorted = Float64Array.from(inOrder, (code) => numbers[code]!)
    const ofCell = new Uint32Array(inOrder.length)
    const results = new Float64Array(groups * size * widthOf(spread))
    for (let cell = 0; cell < groups * size; cell++) {
      let count = 0
      for (let place = 0; place < inOrder.length; place++) {
        ofCell[place] = counts[cell * numbers.length + inOrder[place]!]!
        count += ofCell[place]!
      }
      // Few numbers: without pauses.
      if (count > 0) for (const _ of writeSpread(results, cell, spread, numbersInOrder(ofCell, sorted, count)));
    }
    return results
  }
}
