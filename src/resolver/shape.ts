import { eachChild } from '../lib/tree.ts'
import type { CallNode, TypedExpr, TypedNode, TypedSelect } from './typed.ts'
import { isExpr, typedChildren } from './typed-children.ts'

// Questions about expressions. An alias used several times is one object: what has been looked at is not looked at again.

/** Visits the expressions directly below one; those of a subquery are its own, but for what it reads of the select around it. */
export const eachBelow = (expr: TypedExpr, visit: (child: TypedExpr) => void): void =>
  eachChild<TypedNode>(expr, typedChildren[expr.kind], (child) => {
    if (isExpr(child)) visit(child)
  })
export function childrenOf(expr: TypedExpr): readonly TypedExpr[] {
  if (expr.kind === 'constant' || expr.kind === 'column' || expr.kind === 'parameter') return []
  const found: TypedExpr[] = []
  eachBelow(expr, (child) => found.push(child))
  return found
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

/** What is somewhere in an expression, as bits: one look finds all of it. */
const holds = { aggregate: 1, window: 2, query: 4, arrayJoin: 8 }
const held = new WeakMap<TypedExpr, number>()

function heldBy(expr: TypedExpr): number {
  const own = heldItself(expr)
  if (isLeaf(expr)) return own
  const known = held.get(expr)
  if (known !== undefined) return known
  const around = met
  met = own
  eachChild<TypedNode>(expr, typedChildren[expr.kind], meet)
  const found = met & ~deep
  // To look at leaves again costs less than to remember what is in them.
  if (met & deep) held.set(expr, found)
  met = around
  return found
}

/** Below the expression that is looked at there is more than leaves. */
const deep = 128
/** What has been found in the expression that is looked at. Not a closure: one for every expression would cost more than the look. */
let met = 0
const meet = (child: TypedNode): void => {
  if (isExpr(child)) met |= heldBy(child) | (isLeaf(child) ? 0 : deep)
}

/** Nothing that counts here is below it. */
const isLeaf = ({ kind }: TypedExpr): boolean =>
  kind === 'constant' || kind === 'column' || kind === 'parameter' || kind === 'scalarQuery' || kind === 'exists'

function heldItself(expr: TypedExpr): number {
  switch (expr.kind) {
    case 'call':
      return isAggregateCall(expr) ? holds.aggregate : isWindowCall(expr) ? holds.window : 0
    case 'in':
      return 'query' in expr.set ? holds.query : 0
    case 'scalarQuery':
    case 'exists':
      return holds.query
    case 'arrayJoin':
      return holds.arrayJoin
    default:
      return 0
  }
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
export const hasArrayJoin = (expr: TypedExpr): boolean => (heldBy(expr) & holds.arrayJoin) > 0

/** What a select evaluates once its rows are grouped. */
export const shownParts = ({ columns, having, qualify, orderBy, limitBy, distinctOn }: TypedSelect): TypedExpr[] => [
  ...columns.map((column) => column.expr),
  ...(having ? [having] : []),
  ...(qualify ? [qualify] : []),
  ...orderBy.map((item) => item.expr),
  ...(limitBy?.by ?? []),
  ...distinctOn,
]
