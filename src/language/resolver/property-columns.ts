import type { Span } from '../../errors/span.ts'
import { isInteger, isNamed, isNumeric, isText, type SqlType } from '../types/types.ts'
import { builtCall } from './calls.ts'
import { alike, comparable, isPropertyExpr, keyOf } from './property-values.ts'
import type { Session } from './session.ts'
import { emptySelect, type OutputColumn, outputColumns, type TypedExpr, type TypedQuery } from './typed.ts'

// Columns of queries that are combined with other values: the sides of a set operation, and subqueries in IN.

type Convert = (expr: TypedExpr, i: number) => TypedExpr

/** The query with converted columns. */
export function withColumns(session: Session, query: TypedQuery, convert: Convert, span: Span): TypedQuery {
  const given = outputColumns(query)
  const isKept = (column: OutputColumn, i: number) => {
    const same = columnOf('', column, span)
    return convert(same, i) === same
  }
  if (given.every(isKept)) return query
  if (query.kind === 'select' && !query.distinct)
    return { ...query, columns: query.columns.map((column, i) => ({ ...column, expr: convert(column.expr, i) })) }
  // DISTINCT and LIMIT work on the values before the conversion.
  const alias = session.alias('values')
  const columns = given.map((column, i) => ({ ...column, expr: convert(columnOf(alias, column, span), i) }))
  return { ...emptySelect, columns, from: { kind: 'derived', alias, query }, span }
}

export const columnOf = (source: string, { alias, type }: OutputColumn, span: Span): TypedExpr => ({
  kind: 'column',
  source,
  name: alias,
  type,
  span,
})

/** A placeholder of a type, to find out how it would be converted. */
const ofType = (type: SqlType, span: Span): TypedExpr => ({ kind: 'column', source: '', name: '', type, span })

/** Both sides of a set operation with columns of the same type. Where duplicates are removed, rows are equal if their texts are. */
export function alikeSides(
  session: Session,
  [left, right]: readonly [TypedQuery, TypedQuery],
  isAll: boolean,
  span: Span,
): readonly [TypedQuery, TypedQuery] {
  const types = [left, right].map((query) => outputColumns(query).map(({ type }) => type)) as [SqlType[], SqlType[]]
  const side =
    (own: 0 | 1): Convert =>
    (expr, i) => {
      const other = ofType(types[1 - own]![i]!, span)
      const [held] = alike([expr, other]) as [TypedExpr]
      if (isAll || !isPropertyExpr(held) || held.type.property.numbers !== 'marked') return held
      return { ...keyOf(held), type: { ...held.type, property: { ...held.type.property, numbers: 'by-text' } } } as TypedExpr
    }
  return [withColumns(session, left, side(0), span), withColumns(session, right, side(1), span)]
}

/** A number and a text are equal if their texts are. */
const asTextBeside = (expr: TypedExpr, other: SqlType, span: Span): TypedExpr =>
  isText(other) && isNumeric(expr.type) ? builtCall('toString', [expr], span) : expr

/** The left side of IN and the columns of the subquery, converted so that they can be compared. */
export function comparableColumns(
  session: Session,
  sought: readonly TypedExpr[],
  query: TypedQuery,
  span: Span,
): { readonly sought: readonly TypedExpr[]; readonly query: TypedQuery } {
  const types = outputColumns(query).map(({ type }) => type)
  const column: Convert = (expr, i) => {
    const other = sought[i]
    if (!other) return expr
    // A property is a float, and an engine may search floats only.
    if (isPropertyExpr(other) && isInteger(expr.type) && !isNamed(expr.type, 'Bool')) return builtCall('toFloat', [expr], span)
    return asTextBeside(comparable(expr, other)[0], other.type, span)
  }
  return {
    sought: sought.map((expr, i) => (types[i] ? asTextBeside(comparable(expr, ofType(types[i], span))[0], types[i], span) : expr)),
    query: withColumns(session, query, column, span),
  }
}
