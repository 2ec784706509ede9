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
function select(values: Float64Array, rank: number): number {
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

/** A quantile of all values of some arrays, between the two nearest of them. At least one value; none is NaN. */
export function quantile(pieces: readonly Float64Array[], level: number): number {
  const at = level * (countOf(pieces) - 1)
  const index = Math.floor(at)
  if (at === index) return neighbours(pieces, index, index)[0]
  const [low, high] = neighbours(pieces, index, index + 1)
  return interpolated(low, high, at - index)
}

export const interpolated = (low: number, high: number, share: number): number => (low === high ? low : low * (1 - share) + high * share)

/** So many values are selected without a table of counts. */
const few = 1024
const tableBits = 11

/** The values at two indexes of all values in order, of which the second one is the first one or follows it. */
function neighbours(pieces: readonly Float64Array[], index: number, next: number): readonly [low: number, high: number] {
  const words = pieces.map(highWords)
  const [least, most] = countOf(pieces) > few ? rangeOf(words) : [0, 0]
  if (least === most) {
    const values = joined(pieces)
    const low = select(values, index)
    let high = next === index ? low : Number.POSITIVE_INFINITY
    for (let i = index + 1; i < values.length; i++) if (values[i]! < high) high = values[i]!
    return [low, high]
  }
  const shift = Math.max(0, 32 - Math.clz32(most - least) - tableBits)
  const counts = new Int32Array(1 << tableBits)
  for (const own of words) for (let i = 1; i < own.length; i += 2) counts[(keyOf(own[i]!) - least) >>> shift]!++
  let [place, before] = [0, 0]
  while (before + counts[place]! <= index) before += counts[place++]!
  const at = (wanted: number) => {
    const values = new Float64Array(counts[wanted]!)
    let length = 0
    for (const [p, piece] of pieces.entries()) {
      const own = words[p]!
      for (let i = 0; i < piece.length; i++) if ((keyOf(own[2 * i + 1]!) - least) >>> shift === wanted) values[length++] = piece[i]!
    }
    return values
  }
  const values = at(place)
  if (next - before < values.length) return neighbours([values], index - before, next - before)
  let after = place + 1
  while (counts[after] === 0) after++
  return [largest(values), smallest(at(after))]
}

const countOf = (pieces: readonly Float64Array[]): number => pieces.reduce((sum, { length }) => sum + length, 0)
const largest = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, value))
const smallest = (values: Float64Array): number => values.reduce((least, value) => Math.min(least, value))

function rangeOf(words: readonly Int32Array[]): readonly [least: number, most: number] {
  let [least, most] = [0xffffffff, 0]
  for (const own of words)
    for (let i = 1; i < own.length; i += 2) {
      const key = keyOf(own[i]!)
      if (key < least) least = key
      if (key > most) most = key
    }
  return [least, most]
}

/** Two for each value; the second one is the higher. */
const highWords = ({ buffer, byteOffset, length }: Float64Array) => new Int32Array(buffer, byteOffset, 2 * length)
/** In the order of the numbers. */
const keyOf = (highWord: number): number => (highWord ^ ((highWord >> 31) | 0x80000000)) >>> 0

function joined(pieces: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(countOf(pieces))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

const middleOf = (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))

export const roundTo = (value: number, digits: number): number => {
  const factor = 10 ** digits
  return Math.round((value + Number.EPSILON) * factor) / factor
}
