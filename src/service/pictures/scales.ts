// Positions of values on an axis. Numbers in, numbers out: no markup.

export interface Scale {
  readonly ticks: readonly number[]
  readonly domain: readonly [low: number, high: number]
  at(value: number): number
}

/** Round steps of 1, 2, 2.5 or 5, about `count` of them, from at or below `low` to at or above `high`. `isWhole`: of whole numbers. */
export function niceTicks(low: number, high: number, count = 5, isWhole = false): readonly number[] {
  const [from, to] = low === high ? (low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)]) : [low, high]
  // Halves first: the difference of the largest numbers overflows.
  const rough = (to / 2 - from / 2) / (count / 2)
  const power = 10 ** Math.floor(Math.log10(rough))
  const factors = isWhole && power === 1 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]
  const nice = power * (factors.find((factor) => factor * power >= rough * 0.999) ?? 10)
  const step = isWhole ? Math.max(1, nice) : nice
  if (!Number.isFinite(step) || step <= 0) return [from, to]
  const first = Math.floor(from / step + 1e-9)
  const last = Math.ceil(to / step - 1e-9)
  const ticks = Array.from({ length: Math.min(last - first + 1, 4 * count) }, (_, i) => Number(((first + i) * step).toPrecision(12)))
  const doRise = ticks.every((tick, i) => Number.isFinite(tick) && (i === 0 || tick > ticks[i - 1]!))
  return doRise ? ticks : [from, to]
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number' && Number.isFinite(value)

/** From zero, unless there are numbers below it. */
export function linear(values: Iterable<number | null>, range: readonly [from: number, to: number], count = 5): Scale {
  let low = 0
  let high = 0
  let isWhole = true
  for (const value of values) {
    if (!isNumber(value)) continue
    isWhole &&= Number.isInteger(value)
    if (value < low) low = value
    if (value > high) high = value
  }
  const ticks = niceTicks(low, high, count, isWhole)
  const domain = [ticks[0]!, ticks.at(-1)!] as const
  const [from, to] = range
  // Each in halves, as above.
  const width = domain[1] / 2 - domain[0] / 2
  // Half of the smallest numbers is zero.
  const share = (value: number) => (width > 0 ? (value / 2 - domain[0] / 2) / width : value > domain[0] ? 1 : 0)
  return { ticks, domain, at: (value) => from + share(value) * (to - from) }
}

/** More powers of ten than this are not all marked. */
const mostPowers = 8

/** Of numbers above zero, each power of ten as far from the next one. Zero and what is missing stand at the bottom. Null: a number is below zero, or none is above it. */
export function logarithmic(values: Iterable<number | null>, [from, to]: readonly [from: number, to: number]): Scale | null {
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (const value of values) {
    if (!isNumber(value) || value === 0) continue
    if (value < 0) return null
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (high === 0) return null
  const first = Math.floor(Math.log10(low) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9))
  const step = Math.ceil((last - first) / mostPowers)
  const powers = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => first + i * step)
  const between = last - first <= 2 ? [1, 2, 5] : [1]
  const ticks = powers.flatMap((power) => (power === last ? [1] : between).map((factor) => Number(`${factor}e${power}`)))
  const share = (value: number) => (value <= 0 ? 0 : Math.max(0, (Math.log10(value) - first) / (last - first)))
  return { ticks, domain: [Number(`1e${first}`), Number(`1e${last}`)], at: (value) => from + share(value) * (to - from) }
}

export interface Band {
  readonly width: number
  start(index: number): number
  centre(index: number): number
}

/** Equal parts of an axis; `gap` is the share of each that stays empty. */
export function bands(count: number, [from, to]: readonly [from: number, to: number], gap = 0.25): Band {
  const step = (to - from) / Math.max(1, count)
  const width = step * (1 - gap)
  const start = (index: number) => from + index * step + (step - width) / 2
  return { width, start, centre: (index) => start(index) + width / 2 }
}

/** Points from edge to edge; a single one is in the middle. */
export const points = (count: number, [from, to]: readonly [from: number, to: number]): ((index: number) => number) =>
  count <= 1 ? () => (from + to) / 2 : (index) => from + (index * (to - from)) / (count - 1)

/** Indexes of at most `most` labels, evenly spread, with the first. */
export function spread(count: number, most: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, most)))
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step)
}

/** Stacked values: those above zero upwards, those below downwards. */
export function stacked(rows: readonly (readonly (number | null)[])[]): readonly (readonly (readonly [from: number, to: number])[])[] {
  const length = Math.max(0, ...rows.map((row) => row.length))
  const up = new Array<number>(length).fill(0)
  const down = new Array<number>(length).fill(0)
  return rows.map((row) =>
    Array.from({ length }, (_, i) => {
      const value = row[i]
      const number = isNumber(value) ? value : 0
      const sums = number < 0 ? down : up
      const from = sums[i]!
      sums[i] = from + number
      return [from, from + number] as const
    }),
  )
}
