import { select } from '../../lib/statistics.ts'

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

interface Kept {
  readonly cells: Int32Array
  readonly values: Float64Array
}

/** Interpolates between the two nearest numbers. */
class Quantile implements Reducer<readonly Kept[]> {
  kept = 0
  private readonly level: number
  private cells: Int32Array = new Int32Array(1024)
  private values: Float64Array = new Float64Array(1024)
  private added = 0
  /** What was kept elsewhere. */
  private parts: Kept[] = []
  private results: Float64Array = new Float64Array(0)

  constructor(level: number) {
    this.level = level
  }

  grow(): void {}

  add(cell: number, value: number): void {
    if (Number.isNaN(value)) return
    if (this.added === this.values.length) {
      this.cells = doubled(this.cells)
      this.values = doubled(this.values)
    }
    this.cells[this.added] = cell
    this.values[this.added++] = value
    this.kept++
  }

  state(): readonly Kept[] {
    return this.added === 0
      ? this.parts
      : [...this.parts, { cells: this.cells.slice(0, this.added), values: this.values.slice(0, this.added) }]
  }

  restore(parts: readonly Kept[]): void {
    this.parts = [...parts]
    this.kept = parts.reduce((sum, { values }) => sum + values.length, 0)
  }

  absorb(parts: readonly Kept[], cellOf: (cell: number) => number): void {
    for (const { cells, values } of parts) {
      this.parts.push({ cells: cells.map(cellOf), values })
      this.kept += values.length
    }
  }

  *prepare(cells: number): Generator<void, void, void> {
    const parts = this.state()
    const ends = new Int32Array(cells + 1)
    for (const part of parts) for (let i = 0; i < part.cells.length; i++) ends[part.cells[i]! + 1]!++
    for (let cell = 0; cell < cells; cell++) ends[cell + 1]! += ends[cell]!
    const starts = ends.slice()
    const ordered = new Float64Array(this.kept)
    for (const { cells: cellOf, values } of parts)
      for (let from = 0; from < values.length; from += valuesBetweenPauses) {
        const to = Math.min(values.length, from + valuesBetweenPauses)
        for (let i = from; i < to; i++) ordered[ends[cellOf[i]!]!++] = values[i]!
        yield
      }
    this.results = new Float64Array(cells)
    let unpaused = 0
    for (let cell = 0; cell < cells; cell++) {
      const values = ordered.subarray(starts[cell]!, starts[cell + 1]!)
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

function doubled<V extends Int32Array | Float64Array>(values: V): V {
  const longer = new (values.constructor as new (length: number) => V)(values.length * 2)
  longer.set(values)
  return longer
}
