import type { ActorColumns } from '../../kernels/funnels/columns.ts'
import type { Outcome } from '../../kernels/funnels/fold.ts'
import { Floats } from '../../kernels/grow.ts'
import { mean, median } from '../../lib/statistics.ts'

export interface TimeToConvert {
  readonly average_conversion_time: number | null
  readonly median_conversion_time: number | null
  readonly bins: readonly (readonly [fromSeconds: number, count: number])[]
}

const mostAutomaticBins = 60
const mostBins = 90

/** Seconds from step `from` to step `to`, of the actors who got to `to`. */
export class ConversionTimes {
  private readonly seconds = new Floats()

  constructor(
    private readonly from: number,
    private readonly to: number,
  ) {}

  sink(columns: ActorColumns): (outcome: Outcome) => void {
    return ({ events }) => {
      const last = events[this.to]!
      if (last >= 0) this.seconds.push((columns.time[last]! - columns.time[events[this.from]!]!) / 1e6)
    }
  }

  /** `binCount` bins give one pair more: the last pair counts what lies on the last edge. */
  result(binCount: number | null): TimeToConvert {
    const seconds = this.seconds.view()
    if (seconds.length === 0) return { average_conversion_time: null, median_conversion_time: null, bins: [] }
    let least = Number.POSITIVE_INFINITY
    let most = Number.NEGATIVE_INFINITY
    for (const value of seconds) {
      if (value < least) least = value
      if (value > most) most = value
    }
    const bins = binCount === null ? clamp(Math.ceil(Math.cbrt(seconds.length)), mostAutomaticBins) : clamp(binCount, mostBins)
    const width = Math.ceil((most - least) / bins) || 60
    const start = Math.floor(least)
    const counts = new Array<number>(bins + 1).fill(0)
    for (const value of seconds) counts[Math.min(bins, Math.floor((value - start) / width))]!++
    return {
      average_conversion_time: mean(seconds),
      median_conversion_time: median(seconds),
      bins: counts.map((count, i) => [start + i * width, count] as const),
    }
  }
}

const clamp = (value: number, most: number) => Math.max(1, Math.min(most, Math.trunc(value)))
