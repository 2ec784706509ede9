import type { Table } from 'apache-arrow'
import { alias, select } from '../../language/ast/build.ts'
import type { Expr, OrderItem, Source } from '../../language/ast/nodes.ts'
import { print } from '../../language/ast/print.ts'
import { pageLimit, usualRows } from '../answers/page-limit.ts'
import { columnTypes, type JsonValue, valuesAt } from '../answers/rows.ts'
import { withoutAlias } from '../columns.ts'
import type { QueryContext, QueryRun } from '../kind.ts'

/** Rows of a table, with columns that the query names. */
export interface RowsAnswer {
  readonly columns: readonly string[]
  /** Types of the columns, as ClickHouse spells them. */
  readonly types: readonly string[]
  readonly results: readonly (readonly JsonValue[])[]
  readonly hasMore: boolean
  readonly limit: number
  readonly offset: number
  /** The query as a statement of the language. */
  readonly hogql: string
}

export interface AskedRows {
  readonly label: string
  /** The columns as they are named in the answer. */
  readonly names: readonly string[]
  readonly columns: readonly Expr[]
  readonly from: Source
  readonly where: Expr
  /** Rows that are equal in it have no order of their own: it ends with a key. */
  readonly orderBy: readonly OrderItem[]
  readonly limit?: number | null | undefined
  readonly offset?: number | null | undefined
}

export function* pageOfRows(asked: AskedRows, env: QueryContext): QueryRun<RowsAnswer> {
  const { defaultRows, mostRows } = env.limits ?? usualRows
  const rows = Math.min(asked.limit ?? defaultRows, mostRows)
  const offset = asked.offset ?? 0
  const { names, from, where, orderBy, label } = asked
  // An alias stays, so that the order can name it.
  const columns = asked.columns.map((column, i) => (column.kind === 'alias' ? column : alias(withoutAlias(column), `@column_${i}`)))
  const query = select({ columns, from, where, orderBy, limit: pageLimit(rows + 1, offset) })
  const answer = (yield { kind: 'statement', query, label }) as Table
  const shown = answer.slice(0, rows)
  const cells = names.map((_, i) => valuesAt(shown, i, env.project.timezone))
  return {
    columns: names,
    types: columnTypes(answer).map(([, type]) => type),
    results: Array.from({ length: shown.numRows }, (_, row) => cells.map((values) => values[row]!)),
    hasMore: answer.numRows > rows,
    limit: rows,
    offset,
    hogql: print(select({ columns: asked.columns, from, where, orderBy, limit: pageLimit(rows, offset) })),
  }
}
