import type { PlacedColumn } from '../fold.ts'
import type { Matches } from '../matches.ts'

/** How many groups there can be. */
export const combinationsOf = (columns: readonly PlacedColumn[]): number =>
  columns.reduce((product, { column }) => product * Math.max(1, column.size), 1)

/** The table of combinations has an entry for each possible one. */
const mostCombinations = 1 << 24

/** Numbers the combinations of values that occur, from 0, in order of first occurrence. Without columns there is one. */
export class Groups {
  private readonly columns: readonly PlacedColumn[]
  private readonly numbers: Int32Array
  readonly combinations: number[] = []

  private constructor(columns: readonly PlacedColumn[], combinations: number) {
    this.columns = columns
    this.numbers = new Int32Array(combinations).fill(-1)
  }

  /** Null if too many combinations are possible. */
  static of(columns: readonly PlacedColumn[]): Groups | null {
    const combinations = combinationsOf(columns)
    return combinations > mostCombinations ? null : new Groups(columns, combinations)
  }

  get count(): number {
    return this.combinations.length
  }

  /** Writes the group of each row to `groups`, except of those with a negative bucket. */
  number(matches: Matches, buckets: Int32Array, groups: Int32Array): void {
    const { columns } = this
    if (columns.length === 0) {
      for (let row = 0; row < matches.rows && this.count === 0; row++) if (buckets[row]! >= 0) this.numberOf(0)
      return // all are 0
    }
    if (columns.length === 1 && columns[0]!.of === 'event') {
      const { values } = columns[0]!.column
      for (let row = 0; row < matches.rows; row++) if (buckets[row]! >= 0) groups[row] = this.numberOf(values[matches.index[row]!]!)
      return
    }
    for (let at = 0; at < matches.persons; at++)
      for (let row = matches.offsets[at]!; row < matches.offsets[at + 1]!; row++) {
        if (buckets[row]! < 0) continue
        let combination = 0
        for (const { column, of } of columns)
          combination = combination * column.size + column.values[of === 'event' ? matches.index[row]! : matches.person[at]!]!
        groups[row] = this.numberOf(combination)
      }
  }

  private numberOf(combination: number): number {
    const known = this.numbers[combination]!
    if (known >= 0) return known
    this.numbers[combination] = this.combinations.length
    return this.combinations.push(combination) - 1
  }
}
