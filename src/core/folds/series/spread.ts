/** What is asked of the numbers of a cell: quantiles of these levels, and after them, if asked for, how many numbers there are and their mean. */
export interface Spread {
  readonly levels: readonly number[]
  readonly hasMean: boolean
}

export const oneLevel = (level: number): Spread => ({ levels: [level], hasMean: false })
/** The least number, the quartiles and the largest one, the count and the mean. */
export const ofBox: Spread = { levels: [0, 0.25, 0.5, 0.75, 1], hasMean: true }

/** Numbers of a result for each cell. */
export const widthOf = ({ levels, hasMean }: Spread): number => levels.length + (hasMean ? 2 : 0)

/** The numbers of one cell, at least one. */
interface CellNumbers {
  readonly count: number
  quantile(level: number): number
  sum(): number
}

/** Yields after each time that it has read all numbers. */
export function* writeSpread(results: Float64Array, cell: number, spread: Spread, numbers: CellNumbers): Generator<void, void, void> {
  let at = cell * widthOf(spread)
  for (const level of spread.levels) {
    results[at++] = numbers.quantile(level)
    yield
  }
  if (!spread.hasMean) return
  results[at++] = numbers.count
  results[at] = numbers.sum() / numbers.count
  yield
}

/** A sum with compensation: the order of the numbers does not change it, but for the last digit at most. */
export class CompensatedSum {
  private sum = 0
  private lost = 0

  add(value: number): void {
    const next = this.sum + value
    const added = next - this.sum
    this.lost += this.sum - (next - added) + (value - added)
    this.sum = next
  }

  get value(): number {
    return Number.isFinite(this.sum) ? this.sum + this.lost : this.sum
  }
}
