import { QueryError } from '../../errors/errors.ts'
import type { Expr, FrameBound, OrderItem, WindowName, WindowSpec } from '../ast/nodes.ts'
import { isNamed, isNumeric, isTime } from '../types/types.ts'
import { constantNumber, rowCount } from './constants.ts'
import { keyOf, ordered, readAs } from './property-values.ts'
import type { Scope } from './scope.ts'
import type { TypedBound, TypedExpr, TypedOrder, TypedWindow } from './typed.ts'

/** Resolvers for the expressions of a window. */
export interface WindowParts {
  readonly expr: (expr: Expr, scope: Scope) => TypedExpr
  readonly all: (exprs: readonly Expr[], scope: Scope) => readonly TypedExpr[]
  readonly order: (item: OrderItem, scope: Scope) => TypedOrder
}

export function resolveWindow(over: WindowSpec | WindowName, scope: Scope, parts: WindowParts): TypedWindow {
  if (over.kind === 'windowName') {
    const named = scope.windows.get(over.name)
    if (!named) throw new QueryError('invalid-query', { message: `Unknown window '${over.name}'` }, over.span)
    return resolveWindow(named, scope, parts)
  }
  const items = over.orderBy.map((item) => parts.order(item, scope))
  const isFromValue = over.frame?.unit === 'range' && (over.frame.start.offset || over.frame.end?.offset)
  const orderBy = isFromValue ? items.map((item) => ({ ...item, expr: readAs(item.expr, 'number') })) : items.flatMap(ordered)
  return {
    partitionBy: parts.all(over.partitionBy, scope).map(keyOf),
    orderBy,
    frame: over.frame && resolveFrame(over.frame, orderBy, scope, parts),
  }
}

const boundOrder: readonly FrameBound['type'][] = ['unbounded preceding', 'preceding', 'current row', 'following', 'unbounded following']

function resolveFrame(
  { unit, start, end }: NonNullable<WindowSpec['frame']>,
  orderBy: readonly TypedOrder[],
  scope: Scope,
  parts: WindowParts,
): NonNullable<TypedWindow['frame']> {
  const bound = (edge: FrameBound): TypedBound => {
    if (!edge.offset) return { type: edge.type, offset: null }
    const offset = parts.expr(edge.offset, { ...scope, sources: [], aliases: new Map() })
    if (unit === 'rows') rowCount(offset, 'The offset of a frame')
    else checkRange(offset, orderBy)
    return { type: edge.type, offset }
  }
  const frame = { unit, start: bound(start), end: end && bound(end) }
  const [from, to] = [boundOrder.indexOf(start.type), boundOrder.indexOf(end?.type ?? 'current row')]
  const [a, b] = [frame.start, frame.end].map((edge) => (edge?.offset ? constantNumber(edge.offset) : null))
  const isTurned = from === to && a !== null && b !== null && (start.type === 'preceding' ? a! < b! : a! > b!)
  if (from > to || isTurned || start.type === 'unbounded following' || end?.type === 'unbounded preceding')
    throw new QueryError('invalid-query', { message: 'The window frame ends before it begins' }, (end ?? start).span)
  return frame
}

/** Checks the distance from the current row's value: a number for numbers, an interval for times. */
function checkRange(offset: TypedExpr, orderBy: readonly TypedOrder[]): void {
  const [key] = orderBy
  if (!key || orderBy.length > 1)
    throw new QueryError('invalid-query', { message: 'A RANGE frame with an offset needs exactly one ORDER BY expression' }, offset.span)
  const { type } = key.expr
  const isInterval = isNamed(offset.type, 'Interval')
  if (isTime(type) ? !isInterval : !isNumeric(type) || constantNumber(offset) === null)
    throw new QueryError(
      'wrong-type',
      {
        message: isTime(type)
          ? 'A RANGE frame over times needs an interval'
          : 'A RANGE frame with an offset needs a numeric ORDER BY expression and a numeric offset',
      },
      offset.span,
    )
}
