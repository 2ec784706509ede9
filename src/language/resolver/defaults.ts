import type { Span } from '../../errors/span.ts'
import { isNamed, isNullable, isNumeric, type SqlType, scalar } from '../types/types.ts'
import { constant } from './constants.ts'
import type { TypedExpr } from './typed.ts'

/** The default of a type for a missing value: null if the type is nullable, otherwise the empty or smallest value. */
export function defaultOf(type: SqlType, span: Span): TypedExpr {
  if (isNullable(type)) return constant(null, span, type)
  if (isNamed(type, 'Bool')) return constant(false, span, type)
  if (isNumeric(type)) return constant(0, span, type)
  if (isNamed(type, 'Date')) return constant('1970-01-01', span, type)
  if (isNamed(type, 'DateTime', 'DateTime64')) return constant(0n, span, type)
  if (isNamed(type, 'UUID')) return { kind: 'cast', expr: constant('00000000-0000-0000-0000-000000000000', span), isTry: false, type, span }
  if (isNamed(type, 'String', 'JSON', 'Property')) return constant('', span, type)
  if (type.kind === 'array') return { kind: 'array', items: [], type, span }
  if (type.kind === 'tuple') return { kind: 'tuple', items: type.items.map((item) => defaultOf(item, span)), type, span }
  return constant(null, span, scalar('Nothing'))
}
