import type { PeriodLabel } from '../time/comparison.ts'
import type { RetentionGroup, RetentionPlan } from './plan.ts'

export interface RetentionMean extends PeriodLabel {
  readonly breakdown_value: string | readonly string[] | null
  /** Percentages per value; null if no row has got that far. */
  readonly values: readonly (number | null)[]
}

/**
 * The share of actors who return, over all rows that have actors and whose interval lies within the range: each row counts the same (simple), or each
 * actor does (weighted). `retentionReference: previous` compares with the value before instead of the size of the row.
 */
export function meanOf(
  { counts }: RetentionGroup,
  way: 'simple' | 'weighted',
  { rows, columns, offsets, query }: RetentionPlan,
): RetentionMean['values'] {
  const isPrevious = query.retentionFilter?.retentionReference === 'previous'
  return Array.from({ length: columns }, (_, value) => {
    const reached: (readonly [count: number, base: number])[] = []
    for (let row = 0; row < rows; row++) {
      if (value > 0 && row + offsets[value - 1]! >= rows) break
      const base = counts[row * columns + (isPrevious ? Math.max(value - 1, 0) : 0)]!
      if (base > 0) reached.push([counts[row * columns + value]!, base])
    }
    if (reached.length === 0) return null
    const sum = (of: (pair: (typeof reached)[number]) => number) => reached.reduce((all, pair) => all + of(pair), 0)
    return way === 'simple'
      ? (100 * sum(([count, base]) => count / base)) / reached.length
      : (100 * sum(([count]) => count)) / sum(([, base]) => base)
  })
}
