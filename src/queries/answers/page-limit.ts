import { limit } from '../../language/ast/build.ts'
import type { Limit } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'

/** Rows of an answer: the requirements of the HTTP API name the maximum. */
export const usualRows = { defaultRows: 100, mostRows: 10_000 } as const

/** For readers of all rows. */
export const allRows: NonNullable<QueryContext['limits']> = { defaultRows: Number.POSITIVE_INFINITY, mostRows: Number.POSITIVE_INFINITY }

/** Null: there is nothing to cut. */
export function pageLimit(rows: number, offset: number): Limit | null {
  if (Number.isFinite(rows)) return limit(rows, offset)
  return offset > 0 ? { ...limit(0, offset), limit: null } : null
}
