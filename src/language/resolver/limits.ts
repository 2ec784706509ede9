import { QueryError } from '../../errors/errors.ts'
import type { Expr, Limit } from '../ast/nodes.ts'
import { rowCount } from './constants.ts'
import { resolveExpr } from './expressions.ts'
import { openScope } from './scope.ts'
import type { Session } from './session.ts'
import type { TypedLimit, TypedOrder } from './typed.ts'

export function resolveLimit(session: Session, limit: Limit, orderBy: readonly TypedOrder[]): TypedLimit {
  const count = (expr: Expr | null, clause: string) => (expr ? rowCount(resolveExpr(session, expr, openScope()), clause) : null)
  const rows = count(limit.limit, 'LIMIT')
  if (limit.percent && (rows ?? 0) > 100) throw new QueryError('wrong-type', { message: 'LIMIT PERCENT goes up to 100' }, limit.span)
  if (limit.withTies && orderBy.length === 0)
    throw new QueryError('invalid-query', { message: 'LIMIT WITH TIES needs ORDER BY' }, limit.span)
  return { limit: rows, offset: count(limit.offset, 'OFFSET') ?? 0, percent: limit.percent, withTies: limit.withTies, span: limit.span }
}
