/** The mean; null of nothing. */
export function mean(values: Float64Array): number | null {
  if (values.length === 0) return null
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/** The middle value, or the mean of the two middle ones; null of nothing. */
export function median(values: Float64Array): number | null {
  if (values.length === 0) return null
  const sorted = values.slice().sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const roundTo = (value: number, digits: number): number => {
  const factor = 10 ** digits
  return Math.round((value + Number.EPSILON) * factor) / factor
}
