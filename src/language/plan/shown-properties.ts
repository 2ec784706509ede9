import { shownProperty } from '../resolver/property-values.ts'
import { emptySelect, type OutputColumn, outputColumns, type TypedExpr, type TypedQuery, type TypedSet } from '../resolver/typed.ts'
import { freshAliases } from '../resolver/typed-walk.ts'
import { isProperty } from '../types/property-values.ts'
import type { Pass } from './context.ts'

/**
 * An answer shows a property as its text. `min` and `max` compare the stored values.
 * Before: `SELECT x` where numbers are held as floats. After: `SELECT text of x`.
 */
export const shownProperties: Pass = (query, { showsJson }) => {
  const shown = (expr: TypedExpr): TypedExpr => shownProperty(expr, showsJson)
  if (!outputColumns(query).some(({ type }) => isProperty(type))) return query
  if (query.kind === 'select') return { ...query, columns: query.columns.map((column) => ({ ...column, expr: shown(column.expr) })) }
  return overSet(query, shown, freshAliases(query)('rows'))
}

/** Set operations compare and order rows by the stored values. */
function overSet(set: TypedSet, shown: (expr: TypedExpr) => TypedExpr, alias: string): TypedQuery {
  const { ctes, limit, span } = set
  const read = ({ alias: name, type }: Pick<OutputColumn, 'alias' | 'type'>): TypedExpr => ({
    kind: 'column',
    source: alias,
    name,
    type,
    span,
  })
  const columns = set.columns.map((column) => ({ ...column, expr: shown(read(column)) }))
  const orderBy = set.orderBy.map((item) =>
    item.expr.kind === 'column' ? { ...item, expr: read({ alias: item.expr.name, type: item.expr.type }) } : item,
  )
  return {
    ...emptySelect,
    ctes,
    columns,
    from: { kind: 'derived', alias, query: { ...set, ctes: [], orderBy: [], limit: null } },
    orderBy,
    limit,
    span,
  }
}
