import { QueryError } from '../../errors/errors.ts'
import type { Expr } from '../ast/nodes.ts'
import { print } from '../ast/print.ts'
import { isProperty } from '../types/property-values.ts'
import { isNamed, isText, typeName } from '../types/types.ts'
import { builtCall } from './calls.ts'
import type { TypedExpr } from './typed.ts'

const longestShown = 60

/** A map as the array of its entries. */
export const entriesOf = (expr: TypedExpr): TypedExpr =>
  expr.type.kind === 'map'
    ? builtCall('arrayZip', [builtCall('mapKeys', [expr], expr.span), builtCall('mapValues', [expr], expr.span)], expr.span)
    : expr

/** Only the items of an array or a map can become rows. */
export function checkArray(name: string, { type }: TypedExpr, written: Expr): void {
  if (type.kind !== 'scalar' && type.kind !== 'tuple') return
  const text = print(written)
  const shown = text.length <= longestShown ? text : null
  // A property may hold an array as text.
  const isDocument = isText(type) || isProperty(type) || isNamed(type, 'JSON')
  const use = isDocument && shown !== null ? `JSONExtract(${shown}, 'Array(String)')` : null
  const found = isProperty(type) ? 'a property without a declared type' : typeName(type)
  throw new QueryError('type-mismatch', { name, needs: 'an array', found, shown, use }, written.span)
}
