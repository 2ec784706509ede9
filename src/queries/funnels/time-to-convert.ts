import type { ActorColumns } from '../../kernels/funnels/columns.ts'
import type { Outcome } from '../../kernels/funnels/fold.ts'
import { Floats } from '../../kernels/grow.ts'
import { mean, median } from '../../lib/statistics.ts'

export interface TimeToConvert {
  readonly average_conversion_time: number | null
  readonly median_conversion_time: number | null
  readonly bins: readonly (readonly [fromSeconds: number, count: number])[]
}

const maxAutomaticBins = 60
const maxBins = 90

/** Seconds from step `from` to step `to`, for actors who reached `to`. */
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

  result(binCount: number | null): TimeToConvert {
    const seconds = this.seconds.view()
    let least = Number.POSITIVE_INFINITY
    let most = Number.NEGATIVE_INFINITY
    for (const value of seconds) {
      if (value < least) least = value
      if (value > most) most = value
    }
    const bins = binsOf({ count: seconds.length, least, most }, binCount)
    const counts = new Array<number>(bins.count + 1).fill(0)
    for (const value of seconds) counts[Math.min(bins.count, Math.floor((value - bins.start) / bins.width))]!++
    return timeToConvert(mean(seconds), median(seconds), bins, counts)
  }
}

export interface Bins {
  readonly count: number
  readonly start: number
  readonly width: number
}

export function binsOf(of: { readonly count: number; readonly least: number; readonly most: number }, binCount: number | null): Bins {
  if (of.count === 0) return { count: 0, start: 0, width: 1 }
  const count = binCount === null ? clamp(Math.ceil(Math.cbrt(of.count)), maxAutomaticBins) : clamp(binCount, maxBins)
  return { count, start: Math.floor(of.least), width: Math.ceil((of.most - of.least) / count) || 60 }
}

/** The bins give one pair more: the last pair counts values on the last edge. Without persons: no pairs. */
export const timeToConvert = (
  average: number | null,
  median: number | null,
  { count, start, width }: Bins,
  counts: readonly number[],
): TimeToConvert => ({
  average_conversion_time: average,
  median_conversion_time: median,
  bins: count === 0 ? [] : counts.map((n, i) => [start + i * width, n] as const),
})

const clamp = (value: number, most: number) => Math.max(1, Math.min(most, Math.trunc(value)))
