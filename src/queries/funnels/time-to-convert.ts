import type { ActorColumns } from '../../core/kernels/funnels/columns.ts'
import type { Outcome } from '../../core/kernels/funnels/fold.ts'
import { Floats } from '../../core/kernels/grow.ts'
import { mean, median } from '../../lib/numbers/statistics.ts'
import type { QueryRun } from '../kind.ts'

export interface TimeToConvert {
  readonly average_conversion_time: number | null
  readonly median_conversion_time: number | null
  readonly bins: readonly (readonly [fromSeconds: number, count: number])[]
}

/** The conversions of one period, before they are counted in bins. */
export interface FoundTimes {
  readonly spread: Spread
  counted(bins: Bins): QueryRun<TimeToConvert>
}

export interface Spread {
  readonly count: number
  readonly least: number
  readonly most: number
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

  get spread(): Spread {
    const seconds = this.seconds.view()
    let least = Number.POSITIVE_INFINITY
    let most = Number.NEGATIVE_INFINITY
    for (const value of seconds) {
      if (value < least) least = value
      if (value > most) most = value
    }
    return { count: seconds.length, least, most }
  }

  result(bins: Bins): TimeToConvert {
    const seconds = this.seconds.view()
    if (seconds.length === 0) return noTimes
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

/** One set of bins for the conversions of all periods, so that their counts can be compared. */
export function binsOf(spreads: readonly Spread[], binCount: number | null): Bins {
  const found = spreads.filter((spread) => spread.count > 0)
  if (found.length === 0) return { count: 0, start: 0, width: 1 }
  const persons = found.reduce((sum, spread) => sum + spread.count, 0)
  const [least, most] = [Math.min(...found.map((spread) => spread.least)), Math.max(...found.map((spread) => spread.most))]
  const count = binCount === null ? clamp(Math.ceil(Math.cbrt(persons)), maxAutomaticBins) : clamp(binCount, maxBins)
  return { count, start: Math.floor(least), width: Math.ceil((most - least) / count) || 60 }
}

/** Nobody converted. */
export const noTimes: TimeToConvert = { average_conversion_time: null, median_conversion_time: null, bins: [] }

/** The bins give one pair more: the last pair counts values on the last edge. */
export const timeToConvert = (
  average: number | null,
  median: number | null,
  { start, width }: Bins,
  counts: readonly number[],
): TimeToConvert => ({
  average_conversion_time: average,
  median_conversion_time: median,
  bins: counts.map((n, i) => [start + i * width, n] as const),
})

const clamp = (value: number, most: number) => Math.max(1, Math.min(most, Math.trunc(value)))
