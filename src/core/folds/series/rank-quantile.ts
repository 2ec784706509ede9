import { interpolated } from '../../../lib/numbers/statistics.ts'
import type { PlacedColumn } from '../fold.ts'
import type { Matches } from '../matches.ts'
import type { Accumulator } from './accumulator.ts'
import { CellValues, type KeptValues } from './cell-values.ts'
import type { NumberOrder } from './number-order.ts'
import { CompensatedSum, type Spread, widthOf, writeSpread } from './spread.ts'

const valuesBetweenPauses = 1 << 20

/** Quantiles of coded numbers: the places of the numbers in their order are kept, in two bytes each, and counted byte by byte. */
export class RankQuantile implements Accumulator<readonly KeptValues<Uint16Array>[]> {
  private readonly ranks = new CellValues<Uint16Array>((length) => new Uint16Array(length))
  private readonly counts = new Int32Array(256)
  private results: Float64Array = new Float64Array(0)

  constructor(
    private readonly size: number,
    private readonly column: PlacedColumn,
    private readonly order: NumberOrder,
    private readonly spread: Spread,
  ) {}

  get kept(): number {
    return this.ranks.kept
  }

  grow(): void {}

  add({ rows, persons, person, offsets, index }: Matches, bucketOf: Int32Array, groupOf: Int32Array): void {
    this.ranks.reserve(rows)
    const { size, ranks, order } = this
    const { cells, values: kept } = ranks
    const { rank, numbers } = order
    const { column, of } = this.column
    const { values } = column
    let { length } = ranks
    const write = (row: number, code: number) => {
      const place = rank[code]!
      cells[length] = groupOf[row]! * size + bucketOf[row]!
      kept[length] = place
      if (place < numbers.length && bucketOf[row]! >= 0) length++
    }
    if (of === 'event') for (let row = 0; row < rows; row++) write(row, values[index[row]!]!)
    else for (let at = 0; at < persons; at++) for (let row = offsets[at]!; row < offsets[at + 1]!; row++) write(row, values[person[at]!]!)
    ranks.length = length
  }

  state(groups: number): readonly KeptValues<Uint16Array>[] {
    return this.ranks.state(groups * this.size)
  }

  restore(state: readonly KeptValues<Uint16Array>[]): void {
    this.ranks.restore(state)
  }

  absorb(state: readonly KeptValues<Uint16Array>[], groupOf: Int32Array): void {
    const { size } = this
    this.ranks.absorb(state, (cell) => groupOf[Math.floor(cell / size)]! * size + (cell % size))
  }

  *prepare(groups: number): Generator<void, void, void> {
    const cells = groups * this.size
    this.results = new Float64Array(cells * widthOf(this.spread))
    let unpaused = 0
    for (const [cell, pieces] of this.ranks.pieces(cells).entries()) {
      if (pieces.length === 0) continue
      const count = pieces.reduce((sum, { length }) => sum + length, 0)
      const written = writeSpread(this.results, cell, this.spread, {
        count,
        quantile: (level) => this.quantile(pieces, count, level),
        sum: () => this.sum(pieces),
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

  private sum(pieces: readonly Uint16Array[]): number {
    const { numbers } = this.order
    const sum = new CompensatedSum()
    for (const ranks of pieces) for (let i = 0; i < ranks.length; i++) sum.add(numbers[ranks[i]!]!)
    return sum.value
  }

  private quantile(pieces: readonly Uint16Array[], count: number, level: number): number {
    const at = level * (count - 1)
    const index = Math.floor(at)
    const { numbers } = this.order
    const [low, high] = this.ranksAt(pieces, index, at !== index)
    return interpolated(numbers[low]!, numbers[high]!, at - index)
  }

  /** The ranks at an index of all of them in order, and at the next one: the first byte, and then the second one among those that have this first one. */
  private ranksAt(pieces: readonly Uint16Array[], index: number, asksNext: boolean): readonly [rank: number, next: number] {
    const { counts } = this
    counts.fill(0)
    for (const ranks of pieces) for (let i = 0; i < ranks.length; i++) counts[ranks[i]! >>> 8]!++
    let high = 0
    let rest = index
    while (rest >= counts[high]!) rest -= counts[high++]!
    const ofHigh = counts[high]!
    counts.fill(0)
    for (const ranks of pieces) for (let i = 0; i < ranks.length; i++) if (ranks[i]! >>> 8 === high) counts[ranks[i]! & 255]!++
    const lowAt = (place: number): number => {
      let low = 0
      for (let left = place; left >= counts[low]!; left -= counts[low++]!);
      return (high << 8) | low
    }
    const rank = lowAt(rest)
    if (!asksNext) return [rank, rank]
    return [rank, rest + 1 < ofHigh ? lowAt(rest + 1) : this.ranksAt(pieces, index + 1, false)[0]]
  }
}
