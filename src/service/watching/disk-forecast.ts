import { hourMs } from './hours.ts'

// When the disk is full, from the free bytes of the last hours.

/** The free bytes at hours that follow each other, the oldest first; null: not measured. */
export type FreeBytes = readonly (number | null)[]

export const mostSamples = 7 * 24
const leastHours = 6
const windows = [24, 72] as const

/** Bytes that leave in an hour: the median of the slopes between all pairs, which a file that comes and goes does not move. Null: too little is known. */
function slopeOf(samples: FreeBytes): number | null {
  const known = samples.flatMap((bytes, hour) => (bytes === null ? [] : [{ hour, bytes }]))
  const span = known.length < 2 ? 0 : known.at(-1)!.hour - known[0]!.hour
  if (span < leastHours) return null
  const slopes: number[] = []
  for (const [i, late] of known.entries())
    for (const early of known.slice(0, i)) slopes.push((early.bytes - late.bytes) / (late.hour - early.hour))
  slopes.sort((a, b) => a - b)
  return (slopes[(slopes.length - 1) >> 1]! + slopes[slopes.length >> 1]!) / 2
}

/**
 * Milliseconds until free space is used up to what stays reserved, at the lower of the rates of the last day and of the last three: a large import of some hours is
 * not how the disk usually fills. Null: it does not fill, or too little is known.
 */
export function timeUntilFull(samples: FreeBytes, freeBytes: number, reserved: number): number | null {
  const left = freeBytes - reserved
  if (left <= 0) return 0
  const rates = windows.map((hours) => slopeOf(samples.slice(-hours - 1)))
  if (rates.some((rate) => rate === null)) return null
  const rate = Math.min(...(rates as number[]))
  return rate <= 0 ? null : (left / rate) * hourMs
}

/** With the free bytes of an hour, which replace an earlier measurement of the same hour. */
export function sampled(latest: number, samples: FreeBytes, hour: number, bytes: number): FreeBytes {
  if (samples.length === 0) return [bytes]
  if (hour <= latest) return [...samples.slice(0, -1), bytes]
  const missing = Math.min(hour - latest - 1, mostSamples)
  return [...samples, ...new Array<null>(missing).fill(null), bytes].slice(-mostSamples)
}
