import type { IdOf } from '../ast/identity.ts'
import { isGrouped, seesWindows } from '../resolver/grouping.ts'
import { emptySelect, type TypedColumn, type TypedExpr, type TypedOrder, type TypedQuery, type TypedSelect } from '../resolver/typed.ts'
import { freshAliases, mapExprs, rewrite } from '../resolver/typed-walk.ts'
import { isProperty } from '../types/property-values.ts'
import type { Pass } from './context.ts'

/**
 * DISTINCT over properties whose stored form differs from their displayed form becomes GROUP BY: a group can be ordered by the stored form and
 * display the other one.
 * Before: `SELECT DISTINCT x … ORDER BY x`. After: `SELECT x … GROUP BY x ORDER BY x`.
 */
export const distinctProperties: Pass = (query, { idOf }) => {
  const fresh = freshAliases(query)
  return rewrite(query, { select: (select) => (isAffected(select) ? grouped(select, fresh, idOf) : select) })
}

const isAffected = ({ distinct, columns }: TypedSelect): boolean =>
  distinct &&
  columns.some(({ expr: { type } }) => isProperty(type) && (type.property.isOwn || !['none', 'by-text'].includes(type.property.numbers)))

function grouped(select: TypedSelect, fresh: (wanted: string) => string, idOf: IdOf): TypedQuery & TypedSelect {
  const byColumns = (columns: readonly TypedColumn[]) =>
    ({ mode: 'plain', items: [...new Set(columns.map(({ expr }) => expr))], sets: [] }) as const
  if (!isGrouped(select) && !seesWindows(select)) return { ...select, distinct: false, groupBy: byColumns(select.columns) }
  // A select with groups or windows becomes a subquery.
  const alias = fresh('rows')
  const inner = new Map(select.columns.map((column) => [idOf(column.expr), column]))
  const outside = (expr: TypedExpr): TypedExpr => {
    const column = inner.get(idOf(expr))
    if (!column) return mapExprs(expr, outside)
    return { kind: 'column', source: alias, name: column.alias, type: expr.type, span: expr.span }
  }
  const order = (item: TypedOrder): TypedOrder => ({ ...item, expr: outside(item.expr) })
  const columns = select.columns.map((column) => ({ ...column, expr: outside(column.expr) }))
  const { ctes, orderBy, limitBy, limit, span } = select
  return {
    ...emptySelect,
    ctes,
    columns,
    from: { kind: 'derived', alias, query: { ...select, ctes: [], distinct: false, orderBy: [], limitBy: null, limit: null } },
    groupBy: byColumns(columns),
    orderBy: orderBy.map(order),
    limitBy: limitBy && { ...limitBy, by: limitBy.by.map(outside) },
    limit,
    span,
  }
}
