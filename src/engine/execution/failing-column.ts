import { QueryError } from '../../errors/errors.ts'
import type { Origin } from '../../errors/span.ts'
import { alias, call, field, from, groupBy, select } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'

/** A list with more columns is not searched. */
const maxSearched = 20

/** `expr` alone over the same rows, in a statement that must compute it and returns one row. */
function alone(statement: Query & { readonly kind: 'select' }, expr: Expr): Query {
  const { attr } = expr.span.origin!
  const keys = statement.groupBy?.items.filter(({ span }) => span.origin?.attr === attr) ?? []
  const asked = { ...statement, columns: [alias(expr, 'value')], groupBy: groupBy(...keys), having: null, orderBy: [], limit: null }
  return select({ columns: [call('max', call('length', call('toString', field('value'))))], from: from(asked, 'asked') })
}

/**
 * Finds the column that an engine refused. Its error names none, so each one is run alone, within the remaining time of the query. Null if no
 * column fails alone.
 */
export async function failingColumn(error: unknown, statement: Query, ask: (query: Query) => Promise<unknown>): Promise<Origin | null> {
  if (!(error instanceof QueryError) || error.code !== 'engine-refused' || error.span || error.attr || statement.kind !== 'select')
    return null
  const columns = statement.columns
    .map((column) => (column.kind === 'alias' ? column.expr : column))
    .filter(({ span }) => span.origin?.is === 'expression')
  if (columns.length < 2 || columns.length > maxSearched) return null
  for (const column of columns) {
    const refused = await ask(alone(statement, column)).then(
      () => false,
      (other: unknown) => other instanceof QueryError && other.message === error.message,
    )
    if (refused) return column.span.origin!
  }
  return null
}
