import type { CallNode, TypedExpr, TypedSelect } from './typed.ts'

// Questions about expressions. An alias used several times is one object: what has been looked at is not looked at again.

/** The expressions directly below one; those of a subquery are its own, but for what it reads of the select around it. */
export const childrenOf = (expr: TypedExpr): readonly TypedExpr[] => {
  switch (expr.kind) {
    case 'call':
      return [
        ...expr.params,
        ...expr.args,
        ...expr.orderBy.map((item) => item.expr),
        ...(expr.filter ? [expr.filter] : []),
        ...(expr.over ? [...expr.over.partitionBy, ...expr.over.orderBy.map((item) => item.expr)] : []),
      ]
    case 'array':
    case 'tuple':
      return expr.items
    case 'json':
    case 'cast':
    case 'arrayJoin':
      return [expr.expr]
    case 'in':
      return [expr.expr, ...('items' in expr.set ? expr.set.items : 'value' in expr.set ? [expr.set.value] : [])]
    case 'lambda':
      return [expr.body]
    case 'exists':
      return expr.outer ?? []
    case 'constant':
    case 'column':
    case 'parameter':
    case 'scalarQuery':
      return []
  }
}

/** What is grouped by: elements of a tuple each for itself, and no constants, which an engine would take for positions. */
export const groupKeys = (items: readonly TypedExpr[]): TypedExpr[] =>
  items.flatMap((item): TypedExpr[] => {
    if (item.kind === 'constant') return []
    if (item.kind === 'tuple') return groupKeys(item.items)
    return item.kind === 'call' && item.name === 'tuple' ? groupKeys(item.args) : [item]
  })

export const isAggregateCall = (expr: TypedExpr): expr is CallNode =>
  expr.kind === 'call' && expr.row.kind === 'aggregate' && expr.over === null
export const isWindowCall = (expr: TypedExpr): expr is CallNode =>
  expr.kind === 'call' && (expr.over !== null || expr.row.seesRows === true)

/** What is somewhere in an expression, as bits: all of it is found in one look. */
const holds = { aggregate: 1, window: 2, query: 4 }
const held = new WeakMap<TypedExpr, number>()

function heldBy(expr: TypedExpr): number {
  switch (expr.kind) {
    case 'constant':
    case 'column':
    case 'parameter':
      return 0
    case 'scalarQuery':
    case 'exists':
      return holds.query
  }
  const known = held.get(expr)
  if (known !== undefined) return known
  let found = isAggregateCall(expr) ? holds.aggregate : isWindowCall(expr) ? holds.window : 0
  if (expr.kind === 'in' && 'query' in expr.set) found |= holds.query
  for (const child of childrenOf(expr)) found |= heldBy(child)
  held.set(expr, found)
  return found
}
export const hasAggregate = (expr: TypedExpr): boolean => (heldBy(expr) & holds.aggregate) > 0
export const hasWindow = (expr: TypedExpr): boolean => (heldBy(expr) & holds.window) > 0
/** The first aggregate in it. */
export function aggregateIn(expr: TypedExpr): CallNode | null {
  if (!hasAggregate(expr)) return null
  if (isAggregateCall(expr)) return expr
  for (const child of childrenOf(expr)) {
    const found = aggregateIn(child)
    if (found) return found
  }
  return null
}
/** Some part of it is a query. */
export const holdsQuery = (expr: TypedExpr): boolean => (heldBy(expr) & holds.query) > 0

/** What a select evaluates once its rows are grouped. */
export const shownParts = ({ columns, having, qualify, orderBy, limitBy, distinctOn }: TypedSelect): TypedExpr[] => [
  ...columns.map((column) => column.expr),
  ...(having ? [having] : []),
  ...(qualify ? [qualify] : []),
  ...orderBy.map((item) => item.expr),
  ...(limitBy?.by ?? []),
  ...distinctOn,
]
