/** What was added up, what the additions lost, and how many numbers they were, by cell. */
export interface SumState {
  readonly sums: Float64Array
  readonly lost: Float64Array
  readonly counts: Float64Array
}

/** Sums with compensation: the order of the numbers does not change the result, but for the last digit at most. */
export class Sums implements SumState {
  sums: Float64Array
  lost: Float64Array
  counts: Float64Array

  constructor(cells = 0) {
    this.sums = new Float64Array(cells)
    this.lost = new Float64Array(cells)
    this.counts = new Float64Array(cells)
  }

  get bytes(): number {
    return 3 * this.sums.byteLength
  }

  /** Without a branch: which of both is larger cannot be predicted. NaN is not a number and is left out. */
  add(cell: number, value: number): void {
    if (!Number.isNaN(value)) this.addSum(cell, value, 0, 1)
  }

  /** The sum of some numbers, and what was lost of it. NaN: of both infinities. */
  addSum(cell: number, value: number, before: number, count: number): void {
    const { sums, lost, counts } = this
    const sum = sums[cell]!
    const next = sum + value
    const added = next - sum
    lost[cell]! += sum - (next - added) + (value - added) + before
    sums[cell] = next
    counts[cell]! += count
  }

  /** Adds a cell of others. */
  addCell(cell: number, others: SumState, from: number): void {
    if (others.counts[from] !== 0) this.addSum(cell, others.sums[from]!, others.lost[from]!, others.counts[from]!)
  }
}
