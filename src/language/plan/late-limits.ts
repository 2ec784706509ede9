import type { IdOf } from '../ast/identity.ts'
import type { TypedColumn, TypedExpr, TypedOrder, TypedQuery, TypedSelect } from '../resolver/typed.ts'
import { emptySelect } from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/**
 * LIMIT BY and WITH TIES count the rows that are left after DISTINCT, QUALIFY or one another. An engine without them numbers rows with window
 * functions, which run before those clauses. So the remaining rows become a subquery.
 * Before: `SELECT DISTINCT k, v … ORDER BY v LIMIT 1 BY k`. After: `SELECT k, v FROM (SELECT DISTINCT k, v …) ORDER BY v LIMIT 1 BY k`.
 */
export const lateLimits: Pass = (query, { idOf }) => {
  const fresh = freshAliases(query)
  return rewrite(query, {
    select: (select) => {
      const { limitBy, limit, distinct, distinctOn, qualify } = select
      const hasTies = limit?.withTies === true
      if (limitBy && hasTies) return wrapped(wrapped(select, fresh, idOf, true), fresh, idOf, false)
      return (limitBy || hasTies) && (distinct || distinctOn.length > 0 || qualify) ? wrapped(select, fresh, idOf, false) : select
    },
  })
}

/** Everything up to QUALIFY moves inside, the limits stay outside; with `keeps`, LIMIT BY moves inside too. */
function wrapped(select: TypedSelect, fresh: (wanted: string) => string, idOf: IdOf, keeps: boolean): TypedSelect {
  const alias = fresh('rows')
  const { orderBy, limitBy, limit, ctes, span } = select
  const columns: TypedColumn[] = [...select.columns]
  const byId = new Map<number, TypedColumn>()
  for (const column of columns) if (!byId.has(idOf(column.expr))) byId.set(idOf(column.expr), column)
  const read = (column: TypedColumn): TypedExpr => {
    const { type, span } = column.expr
    return { kind: 'column', source: alias, name: column.alias, type, span }
  }
  const outside = (expr: TypedExpr): TypedExpr => {
    let column = byId.get(idOf(expr))
    if (!column) {
      const name = `@${columns.length + 1}`
      column = { name, alias: name, expr }
      columns.push(column)
      byId.set(idOf(expr), column)
    }
    return read(column)
  }
  const order = orderBy.map((item): TypedOrder => ({ ...item, expr: outside(item.expr) }))
  const by = limitBy && !keeps ? { ...limitBy, by: limitBy.by.map(outside) } : null
  const shown = select.columns.map((column) => ({ ...column, expr: read(column) }))
  const inner: TypedQuery = {
    ...select,
    ctes: [],
    columns,
    // DISTINCT ON, and a LIMIT BY inside, keep the first row, so the order must be inside too.
    orderBy: keeps || select.distinctOn.length ? orderBy : [],
    limitBy: keeps ? limitBy : null,
    limit: null,
  }
  return { ...emptySelect, ctes, columns: shown, from: { kind: 'derived', alias, query: inner }, orderBy: order, limitBy: by, limit, span }
}
