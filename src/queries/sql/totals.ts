import type { Table } from 'apache-arrow'
import type { Query } from '../../ast/nodes.ts'

/** WITH TOTALS puts one row behind all others, and no limit takes it away. */
export const hasTotals = (query: Query): boolean => query.kind === 'select' && query.groupBy?.withTotals === true

/** The first rows, and the totals behind them. */
export function cutTotals(table: Table, rows: number): { readonly shown: Table; readonly hasMore: boolean } {
  const groups = Math.max(table.numRows - 1, 0)
  if (groups <= rows) return { shown: table, hasMore: false }
  return { shown: table.slice(0, rows).concat(table.slice(groups)), hasMore: true }
}
