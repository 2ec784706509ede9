import type { Fold, Matching, PlacedColumn } from './fold.ts'
import { Matches } from './matches.ts'

// The smallest and the largest number of columns, of the events that match.

export interface ExtentsParams {
  readonly matching: Matching
  readonly numbers: readonly PlacedColumn[]
}

/** By column: NaN if no event has a finite number. */
export interface Extents {
  readonly low: Float64Array
  readonly high: Float64Array
}

const nothing = (columns: number): Extents => ({
  low: new Float64Array(columns).fill(Number.NaN),
  high: new Float64Array(columns).fill(Number.NaN),
})

function widen({ low, high }: Extents, column: number, number: number): void {
  if (!(number >= low[column]!)) low[column] = number
  if (!(number <= high[column]!)) high[column] = number
}

export const extentsFold: Fold<ExtentsParams, Extents> = {
  name: 'extents',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, { matching, numbers: columns }, from, to) {
    const matches = new Matches(matching)
    const found = nothing(columns.length)
    for (let next = from; next < to; ) {
      next = matches.fill(lists, next, to)
      const { persons, person, offsets, index } = matches
      for (const [i, { of, column }] of columns.entries())
        for (let at = 0; at < persons; at++)
          for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
            const value = column.values[of === 'event' ? index[row]! : person[at]!]!
            const number = column.numbers === null ? value : column.numbers[value]!
            if (Number.isFinite(number)) widen(found, i, number)
          }
      yield
    }
    return found
  },
  join(results, { numbers }) {
    const all = nothing(numbers.length)
    for (const { low, high } of results)
      for (let i = 0; i < numbers.length; i++) for (const number of [low[i]!, high[i]!]) if (!Number.isNaN(number)) widen(all, i, number)
    return all
  },
}
