import { type SumState, Sums } from '../../../lib/numbers/sums.ts'

/** Of the numbers of each cell, such as a quarter of an hour. */
export interface NumbersState {
  readonly sums: SumState
  /** NaN: there are none. */
  readonly least: Float64Array
  readonly greatest: Float64Array
}

/** Sums and extremes of numbers: each can be joined with those of other cells. */
export class QuarterNumbers implements NumbersState {
  readonly sums: Sums
  readonly least: Float64Array
  readonly greatest: Float64Array

  constructor(cells: number) {
    this.sums = new Sums(cells)
    this.least = new Float64Array(cells).fill(Number.NaN)
    this.greatest = new Float64Array(cells).fill(Number.NaN)
  }

  get bytes(): number {
    return this.sums.bytes + this.least.byteLength + this.greatest.byteLength
  }

  /** NaN is not a number and is left out. */
  add(cell: number, value: number): void {
    this.sums.add(cell, value)
    this.extend(cell, value, value)
  }

  addCell(cell: number, others: NumbersState, from: number): void {
    this.sums.addCell(cell, others.sums, from)
    this.extend(cell, others.least[from]!, others.greatest[from]!)
  }

  /** Neither of two comparisons with NaN holds. */
  private extend(cell: number, least: number, greatest: number): void {
    if (Number.isNaN(least)) return
    if (!(this.least[cell]! <= least)) this.least[cell] = least
    if (!(this.greatest[cell]! >= greatest)) this.greatest[cell] = greatest
  }
}
