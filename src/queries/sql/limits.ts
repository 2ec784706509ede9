import { limit as limitNode, literal } from '../../language/ast/build.ts'
import type { Limit, Query } from '../../language/ast/nodes.ts'

export interface RowLimits {
  /** Default number of rows of a statement's answer. */
  readonly defaultRows: number
  readonly mostRows: number
}

export interface Limited {
  readonly query: Query
  /** The row limit of the answer; the statement reads one row more, to see whether more exist. */
  readonly rows: number
  readonly offset: number
}

/** The statement with its outermost limit reduced to that of the answer. */
export function limited(query: Query, { defaultRows, mostRows }: RowLimits): Limited {
  const given = query.limit
  const asked = numberOf(given?.limit)
  const offset = numberOf(given?.offset) ?? 0
  // The rows of a percentage, and ties, are unknown beforehand, so they are cut afterwards.
  if (given && (given.percent || given.withTies || (given.limit && asked === null))) return { query, rows: mostRows, offset }
  if (asked !== null && asked < 0) return { query, rows: 0, offset } // rejected by the language, with its position
  const rows = Math.min(asked ?? defaultRows, mostRows)
  const limit: Limit = { ...(given ?? limitNode(0)), limit: literal(rows + 1) }
  return { query: { ...query, limit }, rows, offset }
}

/**
 * The same for a reader who stops reading at any time. DuckDB collects the rows of a LIMIT before it returns the first one, so without ORDER BY or
 * OFFSET there is no LIMIT.
 */
export function limitedByReader(query: Query, limits: RowLimits): Limited {
  const asked = limited(query, limits)
  const isSorted = query.orderBy.length > 0 || (query.kind === 'select' && query.orderByAll)
  if (isSorted || asked.query === query || query.limit?.offset) return asked
  return { ...asked, query: { ...query, limit: null } }
}

const numberOf = (expr: Limit['limit'] | undefined): number | null =>
  expr?.kind === 'literal' && expr.type === 'int' ? Number(expr.value) : null
