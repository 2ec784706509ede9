import type { Outcome } from '../../core/kernels/funnels/fold.ts'
import { roundTo } from '../../lib/numbers/statistics.ts'
import { allowFound } from '../answers/cells.ts'

/** Per period of entry: how many entered, and how many of them converted. */
export class PeriodCounts {
  readonly entered: Float64Array
  readonly converted: Float64Array

  constructor(periods: number) {
    this.entered = new Float64Array(periods)
    this.converted = new Float64Array(periods)
  }

  /** Conversion rates in percent, two decimals; 0 in a period without entries. */
  rates(): readonly number[] {
    return Array.from(this.entered, (entered, i) => (entered === 0 ? 0 : roundTo((100 * this.converted[i]!) / entered, 2)))
  }

  get total(): number {
    return this.entered.reduce((sum, n) => sum + n, 0)
  }
}

export class PeriodCollector {
  readonly byValue = new Map<number, PeriodCounts>()

  constructor(
    private readonly periods: number,
    private readonly from: number,
    private readonly to: number,
  ) {}

  readonly sink = ({ value, depth, period }: Outcome): void => {
    if (depth <= this.from) return
    let counts = this.byValue.get(value)
    if (!counts) {
      allowFound(this.byValue.size + 1, 2 * this.periods)
      counts = new PeriodCounts(this.periods)
      this.byValue.set(value, counts)
    }
    counts.entered[period]!++
    if (depth > this.to) counts.converted[period]!++
  }
}
