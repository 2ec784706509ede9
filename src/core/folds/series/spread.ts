import { interpolated } from '../../../lib/numbers/statistics.ts'

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
export interface CellNumbers {
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

/** Numbers in their order, by how often each of them occurs: `count` in all. */
export function numbersInOrder(counts: Uint32Array, numbers: Float64Array, count: number): CellNumbers {
  return {
    count,
    quantile(level) {
      const at = level * (count - 1)
      const [low, high] = [Math.floor(at), Math.ceil(at)]
      // From the nearer end.
      let place = level > 1 / 2 ? numbers.length : -1
      let before = level > 1 / 2 ? count : 0
      if (level > 1 / 2) while (before > low) before -= counts[--place]!
      else {
        while (before + counts[place + 1]! <= low) before += counts[++place]!
        place++
      }
      const least = numbers[place]!
      before += counts[place]!
      while (before <= high) before += counts[++place]!
      return interpolated(least, numbers[place]!, at - low)
    },
    sum() {
      const sum = new CompensatedSum()
      for (let place = 0; place < numbers.length; place++) if (counts[place]! > 0) sum.add(counts[place]! * numbers[place]!)
      return sum.value
    },
  }
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
