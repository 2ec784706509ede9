import type { IdOf } from '../ast/identity.ts'
import { constant } from '../resolver/constants.ts'
import { defaultOf } from '../resolver/defaults.ts'
import { columnOf } from '../resolver/property-columns.ts'
import { isAggregateCall } from '../resolver/shape.ts'
import { emptySelect, type TypedColumn, type TypedExpr, type TypedQuery, type TypedSelect, type TypedSet } from '../resolver/typed.ts'
import { unnestCalls } from './array-joins.ts'
import type { Pass } from './context.ts'
import { freshAliases, withInside } from './rewrite.ts'

/**
 * GROUP BY … WITH TOTALS has one more row behind all others, whatever their order and limit: the aggregates over all rows.
 * Before: `SELECT k, count() … GROUP BY k WITH TOTALS ORDER BY k LIMIT 2`. After: that without totals, and `SELECT '', count() …` behind it.
 */
export const groupTotals: Pass = (query, { idOf }) =>
  query.kind === 'select' && query.groupBy?.withTotals ? withTotals(query, freshAliases(query), idOf) : query

function withTotals(asked: TypedSelect, fresh: (wanted: string) => string, idOf: IdOf): TypedQuery {
  // The totals are made of the rows behind an arrayJoin, also where it is a key.
  const select = unnestCalls(asked, fresh, idOf)
  const { ctes, span } = select
  const { items, mode, sets } = select.groupBy!
  const keys = new Set(items.map(idOf))
  const place = (name: string, expr: TypedExpr): TypedColumn => ({ name, alias: name, expr })
  const places = select.orderBy.map(({ expr }, i) => place(`@${i}`, expr))
  const rows: TypedSelect = {
    ...select,
    ctes: [],
    groupBy: { mode, items, sets },
    columns: [...select.columns, ...places, place('@total', constant(0, span))],
  }
  const ofAll = (expr: TypedExpr): TypedExpr => {
    if (expr.kind === 'constant') return expr
    if (keys.has(idOf(expr))) return defaultOf(expr.type, expr.span)
    const isAggregate: boolean = isAggregateCall(expr)
    return isAggregate ? expr : withInside(expr, ofAll)
  }
  const totals: TypedSelect = {
    ...emptySelect,
    columns: [
      ...select.columns.map((column) => ({ ...column, expr: ofAll(column.expr) })),
      ...places.map(({ name, expr }) => place(name, defaultOf(expr.type, span))),
      place('@total', constant(1, span)),
    ],
    from: select.from,
    where: select.where,
    // No rows have no totals.
    groupBy: { mode: 'plain', items: [constant(0, span)], sets: [] },
    span,
  }
  const set: TypedSet = {
    kind: 'set',
    ctes: [],
    op: 'union',
    all: true,
    left: rows,
    right: totals,
    columns: rows.columns.map(({ name, alias, expr }) => ({ name, alias, type: expr.type })),
    orderBy: [],
    limit: null,
    span,
  }
  const whole = fresh('whole')
  const read = ({ name, alias, expr: { type } }: TypedColumn): TypedExpr => columnOf(whole, { name, alias, type }, span)
  return {
    ...emptySelect,
    ctes,
    columns: select.columns.map((column) => ({ ...column, expr: read(column) })),
    from: { kind: 'derived', alias: whole, query: set },
    orderBy: [
      { expr: read(rows.columns.at(-1)!), descending: false, nulls: 'last' },
      ...select.orderBy.map((item, i) => ({ ...item, expr: read(places[i]!) })),
    ],
    span,
  }
}
