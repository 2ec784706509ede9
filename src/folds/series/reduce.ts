import { select } from '../../lib/statistics.ts'
import { joined } from '../joined.ts'

/** How numbers become one; a number is the level of a quantile. */
export type Reduction = 'sum' | 'avg' | 'min' | 'max' | number

/** Reduces the numbers of each cell. NaN is not a number and is left out; a cell without numbers is 0. */
export interface Reducer<S = unknown> {
  /** Enough cells for the next rows. */
  grow(cells: number): void
  add(cell: number, value: number): void
  state(cells: number): S
  /** Goes on from a state, instead of from nothing. */
  restore(state: S): void
  /** `cellOf`: for each cell of the other one its number here. */
  absorb(state: S, cellOf: (cell: number) => number): void
  /** What takes long, with pauses; before `finish`. */
  prepare?(cells: number): Generator<void, void, void>
  finish(cells: number): Float64Array
  /** Numbers that are kept. */
  readonly kept: number
}

export function reducerOf(reduction: Reduction): Reducer {
  if (typeof reduction === 'number') return new Quantile(reduction)
  return reduction === 'sum' || reduction === 'avg' ? new Sum(reduction) : new Extreme(reduction)
}

interface Sums {
  readonly sums: Float64Array
  readonly lost: Float64Array
  readonly counts: Float64Array
}

/** Sums with compensation: the order of the rows does not change the result, but for the last digit at most. */
class Sum implements Reducer<Sums> {
  readonly kept = 0
  private readonly reduction: 'sum' | 'avg'
  private sums: Float64Array = new Float64Array(0)
  private lost: Float64Array = new Float64Array(0)
  private counts: Float64Array = new Float64Array(0)

  constructor(reduction: 'sum' | 'avg') {
    this.reduction = reduction
  }

  grow(cells: number): void {
    this.sums = grown(this.sums, cells)
    this.lost = grown(this.lost, cells)
    this.counts = grown(this.counts, cells)
  }

  add(cell: number, value: number): void {
    if (Number.isNaN(value)) return
    const sum = this.sums[cell]!
    const next = sum + value
    this.lost[cell]! += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    this.sums[cell] = next
    this.counts[cell]!++
  }

  state(cells: number): Sums {
    return { sums: this.sums.slice(0, cells), lost: this.lost.slice(0, cells), counts: this.counts.slice(0, cells) }
  }

  restore({ sums, lost, counts }: Sums): void {
    this.sums = sums
    this.lost = lost
    this.counts = counts
  }

  absorb({ sums, lost, counts }: Sums, cellOf: (cell: number) => number): void {
    for (let from = 0; from < sums.length; from++) {
      if (counts[from] === 0) continue
      const cell = cellOf(from)
      this.add(cell, sums[from]!)
      this.lost[cell]! += lost[from]!
      this.counts[cell]! += counts[from]! - 1
    }
  }

  finish(cells: number): Float64Array {
    return Float64Array.from({ length: cells }, (_, cell) => {
      const sum = Number.isFinite(this.sums[cell]!) ? this.sums[cell]! + this.lost[cell]! : this.sums[cell]!
      return this.counts[cell] === 0 ? 0 : this.reduction === 'sum' ? sum : sum / this.counts[cell]!
    })
  }
}

class Extreme implements Reducer<Float64Array> {
  readonly kept = 0
  private readonly isSmallest: boolean
  private values: Float64Array = new Float64Array(0)

  constructor(reduction: 'min' | 'max') {
    this.isSmallest = reduction === 'min'
  }

  grow(cells: number): void {
    this.values = grown(this.values, cells, Number.NaN)
  }

  add(cell: number, value: number): void {
    if (Number.isNaN(value)) return
    const known = this.values[cell]!
    if (Number.isNaN(known) || (this.isSmallest ? value < known : value > known)) this.values[cell] = value
  }

  state(cells: number): Float64Array {
    return this.values.slice(0, cells)
  }

  restore(values: Float64Array): void {
    this.values = values
  }

  absorb(values: Float64Array, cellOf: (cell: number) => number): void {
    for (let cell = 0; cell < values.length; cell++) this.add(cellOf(cell), values[cell]!)
  }

  finish(cells: number): Float64Array {
    return Float64Array.from(this.values.subarray(0, cells), (value) => (Number.isNaN(value) ? 0 : value))
  }
}

const valuesBetweenPauses = 1 << 17

/** Numbers that were kept elsewhere, cell by cell: those of a cell end at its entry of `ends`. */
interface Kept {
  readonly ends: Int32Array
  readonly values: Float64Array
  /** The number of each of its cells here. Null: the same. */
  readonly cellOf: Int32Array | null
}

/** Interpolates between the two nearest numbers. */
class Quantile implements Reducer<readonly Kept[]> {
  kept = 0
  private readonly level: number
  /** By cell, its numbers, and how many there are. */
  private readonly values: Float64Array[] = []
  private lengths: Int32Array = new Int32Array(0)
  private parts: Kept[] = []
  private results: Float64Array = new Float64Array(0)

  constructor(level: number) {
    this.level = level
  }

  grow(cells: number): void {
    while (this.values.length < cells) this.values.push(noNumbers)
    if (this.lengths.length >= cells) return
    const longer = new Int32Array(Math.max(cells, 2 * this.lengths.length))
    longer.set(this.lengths)
    this.lengths = longer
  }

  add(cell: number, value: number): void {
    if (Number.isNaN(value)) return
    let values = this.values[cell]!
    const at = this.lengths[cell]!++
    if (at === values.length) {
      values = grown(values, at + 8)
      this.values[cell] = values
    }
    values[at] = value
    this.kept++
  }

  state(cells: number): readonly Kept[] {
    if (this.parts.length > 0) return this.parts
    const ends = new Int32Array(cells)
    const values = new Float64Array(this.kept)
    let end = 0
    for (let cell = 0; cell < cells; cell++) {
      if (cell < this.values.length) values.set(this.values[cell]!.subarray(0, this.lengths[cell]!), end)
      end += this.lengths[cell] ?? 0
      ends[cell] = end
    }
    return [{ ends, values, cellOf: null }]
  }

  restore(parts: readonly Kept[]): void {
    this.parts = [...parts]
    this.kept = parts.reduce((sum, { values }) => sum + values.length, 0)
  }

  absorb(parts: readonly Kept[], cellOf: (cell: number) => number): void {
    for (const { ends, values, cellOf: before } of parts) {
      this.parts.push({ ends, values, cellOf: Int32Array.from(ends, (_, cell) => cellOf(before ? before[cell]! : cell)) })
      this.kept += values.length
    }
  }

  *prepare(cells: number): Generator<void, void, void> {
    const pieces: Float64Array[][] = Array.from({ length: cells }, () => [])
    for (const { ends, values, cellOf } of this.state(cells))
      for (let cell = 0, begin = 0; cell < ends.length; begin = ends[cell++]!)
        if (ends[cell]! > begin) pieces[cellOf ? cellOf[cell]! : cell]!.push(values.subarray(begin, ends[cell]))
    this.results = new Float64Array(cells)
    let unpaused = 0
    for (const [cell, of] of pieces.entries()) {
      const values = of.length > 0 ? joined(of) : noNumbers
      this.results[cell] = quantile(values, this.level)
      unpaused += values.length
      if (unpaused < valuesBetweenPauses) continue
      unpaused = 0
      yield
    }
  }

  finish(): Float64Array {
    return this.results
  }
}

const noNumbers = new Float64Array(0)

/** Reorders the values. */
function quantile(values: Float64Array, level: number): number {
  if (values.length === 0) return 0
  const at = level * (values.length - 1)
  const index = Math.floor(at)
  const low = select(values, index)
  const share = at - index
  if (share === 0) return low
  let high = Number.POSITIVE_INFINITY
  for (let i = index + 1; i < values.length; i++) if (values[i]! < high) high = values[i]!
  return interpolated(low, high, share)
}

export const interpolated = (low: number, high: number, share: number): number => (low === high ? low : low * (1 - share) + high * share)

export function grown(values: Float64Array, length: number, empty = 0): Float64Array {
  if (length <= values.length) return values
  const longer = new Float64Array(Math.max(length, values.length * 2))
  longer.set(values)
  if (empty !== 0) longer.fill(empty, values.length)
  return longer
}
