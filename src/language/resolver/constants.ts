import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Literal } from '../ast/nodes.ts'
import { literalType } from '../types/literals.ts'
import type { SqlType } from '../types/types.ts'
import type { ConstantNode, TypedExpr } from './typed.ts'

export const constant = (value: ConstantNode['value'], span: Span, type?: SqlType): ConstantNode => ({
  kind: 'constant',
  value,
  type: type ?? literalType(value),
  span,
})

export const literalNode = (literal: Literal): ConstantNode =>
  constant(literal.value, literal.span, literalType(literal.value, literal.type === 'float'))

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  plus: (a, b) => a + b,
  minus: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
  intDiv: (a, b) => Math.trunc(a / b),
  modulo: (a, b) => a % b,
}

/** The value of a constant numeric expression; otherwise null. */
export function constantNumber(expr: TypedExpr): number | null {
  if (expr.kind === 'constant')
    return typeof expr.value === 'number' ? expr.value : typeof expr.value === 'bigint' ? Number(expr.value) : null
  if (expr.kind !== 'call') return null
  if (expr.name === 'negate' && expr.args.length === 1) {
    const value = constantNumber(expr.args[0]!)
    return value === null ? null : -value
  }
  const apply = arithmetic[expr.name]
  if (!apply || expr.args.length !== 2) return null
  const [a, b] = expr.args.map(constantNumber)
  return a === null || b === null ? null : apply(a!, b!)
}

/** For LIMIT, OFFSET and similar clauses: an integer that is not negative. */
export function rowCount(expr: TypedExpr, clause: string): number {
  const value = constantNumber(expr)
  if (value === null || !Number.isSafeInteger(value) || value < 0)
    throw new QueryError('wrong-type', { message: `${clause} must be a non-negative integer` }, expr.span)
  return value
}

/** A condition whose value is known before the statement runs. */
export const knownTruth = (expr: TypedExpr): boolean | null => {
  if (expr.kind !== 'constant' || expr.value === null || typeof expr.value === 'string') return null
  return expr.type.kind === 'scalar' && expr.type.name.startsWith('Date') ? null : Boolean(expr.value)
}
