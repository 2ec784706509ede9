import type { IdOf } from '../ast/identity.ts'
import { groupingRow } from '../functions/aggregates/grouping.ts'
import { keyRow, propertyRows } from '../functions/values/property-values.ts'
import { plainCall } from '../resolver/call-node.ts'
import { keyOf } from '../resolver/property-values.ts'
import { isAggregateCall } from '../resolver/shape.ts'
import type { TypedExpr, TypedOrder, TypedQuery, TypedSelect } from '../resolver/typed.ts'
import { mapExprs, rewrite } from '../resolver/typed-walk.ts'
import { isProperty } from '../types/property-values.ts'
import type { Pass } from './context.ts'

/**
 * Values with the same text form one group, and the group is a number if any of them is.
 * Before: `SELECT x … GROUP BY x` where texts that read as numbers are marked. After: `SELECT @key(x) … GROUP BY @unmarked(x)`.
 */
export const propertyKeys: Pass = (query, { idOf }) =>
  rewrite(query, { select: (select) => (select.groupBy ? byText(select, idOf) : select) })

const isMarked = ({ type }: TypedExpr): boolean => isProperty(type) && type.property.numbers === 'marked'

function byText(select: TypedSelect, idOf: IdOf): TypedQuery & TypedSelect {
  const { mode, items, sets, hidesMissingKeys } = select.groupBy!
  const marked = [...items, ...sets.flat()].filter(isMarked)
  if (marked.length === 0) return select
  const texts = new Map(marked.map((item) => [idOf(item), keyOf(item)]))
  const key = (item: TypedExpr): TypedExpr => texts.get(idOf(item)) ?? item
  const done = new Map<TypedExpr, TypedExpr>()
  const replaced = (expr: TypedExpr): TypedExpr => {
    const known = done.get(expr)
    if (known) return known
    const next = replacement(expr)
    done.set(expr, next)
    return next
  }
  const replacement = (expr: TypedExpr): TypedExpr => {
    const isAggregate: boolean = isAggregateCall(expr)
    if (isAggregate) return expr
    const ofKey = expr.kind === 'call' && expr.name === propertyRows.unmarked.name ? texts.get(idOf(expr.args[0]!)) : undefined
    if (ofKey) return ofKey
    if (expr.kind === 'call' && expr.row === groupingRow) return mapExprs(expr, key)
    const text = texts.get(idOf(expr))
    if (!text) return mapExprs(expr, replaced)
    // The totals row has no keys, but it has values.
    return mode === 'plain' || hidesMissingKeys
      ? { ...plainCall(keyRow.name, keyRow, { args: [expr] }, expr.span), type: expr.type }
      : { ...text, type: expr.type }
  }
  const order = (item: TypedOrder): TypedOrder => ({ ...item, expr: replaced(item.expr) })
  return {
    ...select,
    columns: select.columns.map((column) => ({ ...column, expr: replaced(column.expr) })),
    groupBy: { ...select.groupBy!, items: items.map(key), sets: sets.map((set) => set.map(key)) },
    having: select.having && replaced(select.having),
    qualify: select.qualify && replaced(select.qualify),
    orderBy: select.orderBy.map(order),
    limitBy: select.limitBy && { ...select.limitBy, by: select.limitBy.by.map(replaced) },
    distinctOn: select.distinctOn.map(replaced),
  }
}
