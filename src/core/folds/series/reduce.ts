import { quantile } from '../../../lib/numbers/statistics.ts'
import { type SumState, Sums } from '../../../lib/numbers/sums.ts'
import { CellValues, type KeptValues } from './cell-values.ts'
import { CompensatedSum, oneLevel, type Spread, widthOf, writeSpread } from './spread.ts'

/** How numbers become one, or the numbers of a spread; a number is the level of a quantile. */
export type Reduction = 'sum' | 'avg' | 'min' | 'max' | number | Spread

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
  if (typeof reduction === 'number') return new Quantiles(oneLevel(reduction))
  if (typeof reduction === 'object') return new Quantiles(reduction)
  return reduction === 'sum' || reduction === 'avg' ? new Sum(reduction) : new Extreme(reduction)
}

class Sum implements Reducer<SumState> {
  readonly kept = 0
  private readonly reduction: 'sum' | 'avg'
  private readonly all = new Sums()

  constructor(reduction: 'sum' | 'avg') {
    this.reduction = reduction
  }

  grow(cells: number): void {
    const { all } = this
    all.sums = grown(all.sums, cells)
    all.lost = grown(all.lost, cells)
    all.counts = grown(all.counts, cells)
  }

  add(cell: number, value: number): void {
    this.all.add(cell, value)
  }

  state(cells: number): SumState {
    const { sums, lost, counts } = this.all
    return { sums: sums.slice(0, cells), lost: lost.slice(0, cells), counts: counts.slice(0, cells) }
  }

  restore(state: SumState): void {
    Object.assign(this.all, state)
  }

  absorb(state: SumState, cellOf: (cell: number) => number): void {
    for (let from = 0; from < state.sums.length; from++) this.all.addCell(cellOf(from), state, from)
  }

  finish(cells: number): Float64Array {
    const { sums, lost, counts } = this.all
    return Float64Array.from({ length: cells }, (_, cell) => {
      const sum = Number.isFinite(sums[cell]!) ? sums[cell]! + lost[cell]! : sums[cell]!
      return counts[cell] === 0 ? 0 : this.reduction === 'sum' ? sum : sum / counts[cell]!
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

const valuesBetweenPauses = 1 << 18

/** Interpolates between the two nearest numbers. */
class Quantiles implements Reducer<readonly KeptValues<Float64Array>[]> {
  private readonly numbers = new CellValues<Float64Array>((length) => new Float64Array(length))
  private results: Float64Array = new Float64Array(0)

  constructor(private readonly spread: Spread) {}

  get kept(): number {
    return this.numbers.kept
  }

  grow(): void {}

  add(cell: number, value: number): void {
    if (Number.isNaN(value)) return
    const { numbers } = this
    if (numbers.length === numbers.values.length) numbers.reserve(1024)
    numbers.cells[numbers.length] = cell
    numbers.values[numbers.length++] = value
  }

  state(cells: number): readonly KeptValues<Float64Array>[] {
    return this.numbers.state(cells)
  }

  restore(parts: readonly KeptValues<Float64Array>[]): void {
    this.numbers.restore(parts)
  }

  absorb(parts: readonly KeptValues<Float64Array>[], cellOf: (cell: number) => number): void {
    this.numbers.absorb(parts, cellOf)
  }

  *prepare(cells: number): Generator<void, void, void> {
    this.results = new Float64Array(cells * widthOf(this.spread))
    let unpaused = 0
    for (const [cell, pieces] of this.numbers.pieces(cells).entries()) {
      if (pieces.length === 0) continue
      const count = pieces.reduce((sum, { length }) => sum + length, 0)
      const written = writeSpread(this.results, cell, this.spread, {
        count,
        quantile: (level) => quantile(pieces, level),
        sum: () => sumOf(pieces),
      })
      for (const _ of written) {
        unpaused += count
        if (unpaused < valuesBetweenPauses) continue
        unpaused = 0
        yield
      }
    }
  }

  finish(): Float64Array {
    return this.results
  }
}

function sumOf(pieces: readonly Float64Array[]): number {
  const sum = new CompensatedSum()
  for (const values of pieces) for (let i = 0; i < values.length; i++) sum.add(values[i]!)
  return sum.value
}

export function grown(values: Float64Array, length: number, empty = 0): Float64Array {
  if (length <= values.length) return values
  const longer = new Float64Array(Math.max(length, values.length * 2))
  longer.set(values)
  if (empty !== 0) longer.fill(empty, values.length)
  return longer
}
