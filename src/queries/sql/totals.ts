import { RecordBatch, Table } from 'apache-arrow'
import type { Query } from '../../language/ast/nodes.ts'

/** WITH TOTALS adds one row after all others, and no limit removes it. */
export const hasTotals = (query: Query): boolean => query.kind === 'select' && query.groupBy?.withTotals === true

export interface TotalsCut {
  /** The rows that the answer shows. Pages come in order. The last row of each page is held back: it may be the totals. */
  cut(page: Table): Table
  /** The totals, after the last page. */
  last(): Table | null
  /** Were groups left out of the pages so far? */
  hasMore(): boolean
}

/** The first groups, and the totals after them. */
export function totalsCut(rows: number): TotalsCut {
  let held: Table | null = null
  let shown = 0
  let hasMore = false
  /** As many of these groups as fit. */
  const groups = (some: Table): Table => {
    const fitting = Math.min(some.numRows, rows - shown)
    shown += fitting
    hasMore ||= fitting < some.numRows
    return some.slice(0, fitting)
  }
  return {
    cut(page) {
      if (page.numRows === 0) return page
      const before = held && groups(held)
      const own = groups(page.slice(0, page.numRows - 1))
      held = page.slice(page.numRows - 1)
      const whole = before ? before.concat(own) : own
      return whole.batches.length ? whole : new Table(page.schema, [new RecordBatch(page.schema)])
    },
    last: () => held,
    hasMore: () => hasMore,
  }
}
