/** Values counted by their size. */
export interface HistogramCounts {
  readonly bounds: readonly number[]
  /** For each bound, values that are not larger. */
  readonly buckets: readonly number[]
  readonly sum: number
  readonly count: number
}

export class Histogram implements HistogramCounts {
  readonly bounds: readonly number[]
  readonly buckets: number[]
  sum = 0
  count = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.buckets = bounds.map(() => 0)
  }

  add(value: number): void {
    for (const [i, bound] of this.bounds.entries()) if (value <= bound) this.buckets[i]!++
    this.sum += value
    this.count++
  }
}
