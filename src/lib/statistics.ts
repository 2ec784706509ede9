/** The mean; null for an empty list. */
export function mean(values: Float64Array): number | null {
  if (values.length === 0) return null
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/** The median, or the mean of the two middle values; null for an empty list. */
export function median(values: Float64Array): number | null {
  if (values.length === 0) return null
  const copy = values.slice()
  const middle = copy.length >> 1
  const upper = select(copy, middle)
  if (copy.length % 2 === 1) return upper
  // What is before the selected index is not larger than what is at it.
  let lower = copy[0]!
  for (let i = 1; i < middle; i++) if (copy[i]! > lower) lower = copy[i]!
  return (lower + upper) / 2
}

/** Partially sorts: the value with rank `rank` comes to the index of its rank, and all smaller ones before it. */
export function select(values: Float64Array, rank: number): number {
  let [left, right] = [0, values.length - 1]
  while (left < right) {
    const pivot = middleOf(values[left]!, values[(left + right) >> 1]!, values[right]!)
    let [i, j] = [left, right]
    while (i <= j) {
      while (values[i]! < pivot) i++
      while (values[j]! > pivot) j--
      if (i > j) break
      const value = values[i]!
      values[i++] = values[j]!
      values[j--] = value
    }
    if (rank <= j) right = j
    else if (rank >= i) left = i
    else break
  }
  return values[rank]!
}

const middleOf = (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))

export const roundTo = (value: number, digits: number): number => {
  const factor = 10 ** digits
  return Math.round((value + Number.EPSILON) * factor) / factor
}
