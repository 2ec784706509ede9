import type { CallNode, TypedExpr, TypedSelect } from './typed.ts'

// Questions about expressions. An alias used several times is one object: what has been looked at is not looked at again.

/** The expressions directly below one; those of a subquery are its own. */
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
    default:
      return []
  }
}

export const isAggregateCall = (expr: TypedExpr): expr is CallNode =>
  expr.kind === 'call' && expr.row.kind === 'aggregate' && expr.over === null
export const isWindowCall = (expr: TypedExpr): expr is CallNode => expr.kind === 'call' && expr.over !== null

const asks = (is: (expr: TypedExpr) => boolean) => {
  const answers = new WeakMap<TypedExpr, boolean>()
  const ask = (expr: TypedExpr): boolean => {
    const known = answers.get(expr)
    if (known !== undefined) return known
    const answer = is(expr) || childrenOf(expr).some(ask)
    answers.set(expr, answer)
    return answer
  }
  return ask
}
export const hasAggregate: (expr: TypedExpr) => boolean = asks(isAggregateCall)
export const hasWindow: (expr: TypedExpr) => boolean = asks(isWindowCall)

/** What a select evaluates once its rows are grouped. */
export const shownParts = ({ columns, having, qualify, orderBy, limitBy, distinctOn }: TypedSelect): TypedExpr[] => [
  ...columns.map((column) => column.expr),
  ...(having ? [having] : []),
  ...(qualify ? [qualify] : []),
  ...orderBy.map((item) => item.expr),
  ...(limitBy?.by ?? []),
  ...distinctOn,
]
