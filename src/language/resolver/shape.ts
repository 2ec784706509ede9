import { eachChild } from '../../lib/tree.ts'
import type { CallNode, TypedExpr, TypedNode, TypedSelect } from './typed.ts'
import { isExpr, typedChildren } from './typed-children.ts'

// Properties of expressions. An alias used several times is one object, so results are memoized by object.

/** Visits the direct child expressions. Of a subquery, only the outer columns that it reads. */
const eachBelow = (expr: TypedExpr, visit: (child: TypedExpr) => void): void =>
  eachChild<TypedNode>(expr, typedChildren[expr.kind], (child) => {
    if (isExpr(child)) visit(child)
  })
export function childrenOf(expr: TypedExpr): readonly TypedExpr[] {
  if (expr.kind === 'constant' || expr.kind === 'column' || expr.kind === 'parameter') return []
  const found: TypedExpr[] = []
  eachBelow(expr, (child) => found.push(child))
  return found
}

/** The grouping keys: a tuple counts as its elements, and constants are left out, since an engine would take them for positions. */
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

/** What an expression contains, as bits, so that one walk finds everything. */
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
  // Visiting leaves again is cheaper than a lookup.
  if (met & deep) held.set(expr, found)
  met = around
  return found
}

/** The expression has children that are not leaves. */
const deep = 128
/** The bits found so far in the current expression. A module variable, because a closure per expression would cost more than the walk. */
let met = 0
const meet = (child: TypedNode): void => {
  if (isExpr(child)) met |= heldBy(child) | (isLeaf(child) ? 0 : deep)
}

/** Contains none of the bits above in its children. */
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
/** The first aggregate in an expression. */
export function aggregateIn(expr: TypedExpr): CallNode | null {
  if (!hasAggregate(expr)) return null
  if (isAggregateCall(expr)) return expr
  for (const child of childrenOf(expr)) {
    const found = aggregateIn(child)
    if (found) return found
  }
  return null
}
/** Contains a subquery. */
export const holdsQuery = (expr: TypedExpr): boolean => (heldBy(expr) & holds.query) > 0
export const hasArrayJoin = (expr: TypedExpr): boolean => (heldBy(expr) & holds.arrayJoin) > 0

/** The parts of a select that are evaluated after grouping. */
export const shownParts = ({ columns, having, qualify, orderBy, limitBy, distinctOn }: TypedSelect): TypedExpr[] => [
  ...columns.map((column) => column.expr),
  ...(having ? [having] : []),
  ...(qualify ? [qualify] : []),
  ...orderBy.map((item) => item.expr),
  ...(limitBy?.by ?? []),
  ...distinctOn,
]
