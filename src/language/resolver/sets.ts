import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { SetQuery } from '../ast/nodes.ts'
import { isNamed, isNumeric, isTime, type SqlType } from '../types/types.ts'
import { unify } from '../types/unify.ts'
import { columnsBinding } from './bindings.ts'
import { positional } from './columns.ts'
import { constant } from './constants.ts'
import { resolveOrderBy } from './expressions.ts'
import { resolveLimit } from './limits.ts'
import { alikeSides, columnOf } from './property-columns.ts'
import { ordered } from './property-values.ts'
import { openScope, type Scope } from './scope.ts'
import type { Session } from './session.ts'
import {
  emptySelect,
  type OutputColumn,
  outputColumns,
  type TypedColumn,
  type TypedCte,
  type TypedOrder,
  type TypedQuery,
  type TypedSet,
} from './typed.ts'

export function resolveSet(session: Session, set: SetQuery, scope: Scope, typedCtes: readonly TypedCte[]): TypedQuery {
  const left = session.query(set.left, scope, scope.outer)
  const right = session.query(set.right, scope, scope.outer)
  return setOf(session, set, left, set.byName ? byName(session, left, right, set.span) : right, typedCtes, scope.ctes)
}

export function setOf(
  session: Session,
  set: SetQuery,
  left: TypedQuery,
  right: TypedQuery,
  ctes: readonly TypedCte[],
  scope: Scope['ctes'],
): TypedQuery {
  const [first, second] = sidesOf(session, set, left, right)
  const a = outputColumns(first)
  const b = outputColumns(second)
  const written = (columns: readonly OutputColumn[]) => columns.filter((column) => !column.name.startsWith('@')).length
  if (a.length !== b.length)
    throw new QueryError(
      'invalid-query',
      { message: `Both sides of ${set.op.toUpperCase()} need the same number of columns: ${written(a)} and ${written(b)}` },
      set.span,
    )
  const columns = a.map((column, i) => ({ ...column, type: bothOf(column, b[i]!, set) }))
  const orderOver = (source: string): readonly TypedOrder[] => {
    const outer = openScope(scope)
    outer.sources.push(columnsBinding(null, source, columns, () => ({ kind: 'rows', alias: '', names: [], rows: [] }), set.span))
    const asColumns = columns.map((column): TypedColumn => ({ ...column, expr: columnOf(source, column, set.span) }))
    return set.orderBy.flatMap((item) => {
      const column = positional(item.expr, asColumns)
      if (!column) return resolveOrderBy(session, [item], outer)
      return ordered({ expr: column, descending: item.descending, nulls: item.nulls ?? 'last' })
    })
  }
  const limitBy = (orderBy: readonly TypedOrder[]) => set.limit && resolveLimit(session, set.limit, orderBy)
  const orderBy = orderOver('')
  const whole: TypedSet = {
    kind: 'set',
    ctes,
    op: set.op,
    all: set.all,
    left: first,
    right: second,
    columns,
    orderBy,
    limit: limitBy(orderBy),
    span: set.span,
  }
  if (orderBy.every(({ expr }) => expr.kind === 'column' || expr.kind === 'constant')) return whole
  // A set can be ordered by its columns only.
  const alias = session.alias('rows')
  const over = orderOver(alias)
  return {
    ...emptySelect,
    ctes,
    columns: columns.map((column) => ({ ...column, expr: columnOf(alias, column, set.span) })),
    from: { kind: 'derived', alias, query: { ...whole, ctes: [], orderBy: [], limit: null } },
    orderBy: over,
    limit: limitBy(over),
    span: set.span,
  }
}

function sidesOf(session: Session, set: SetQuery, left: TypedQuery, right: TypedQuery): readonly [TypedQuery, TypedQuery] {
  const isEven = outputColumns(left).length === outputColumns(right).length
  return isEven ? alikeSides(session, [left, right], set.all, set.span) : [left, right]
}

/** The common type of a column of both sides. */
function bothOf(left: OutputColumn, right: OutputColumn, set: SetQuery): SqlType {
  const [a, b] = [sortOf(left.type), sortOf(right.type)]
  if (a && b && a !== b)
    throw new QueryError(
      'wrong-type',
      { message: `Column '${left.name}' is ${a} on one side of ${set.op.toUpperCase()} and ${b} on the other` },
      set.span,
    )
  return unify(left.type, right.type)
}

/** The group of types that can be combined. */
function sortOf(type: SqlType): string | null {
  if (isNumeric(type)) return 'a number'
  if (isTime(type)) return 'a time'
  if (isNamed(type, 'String', 'JSON')) return 'a text'
  if (isNamed(type, 'UUID')) return 'a UUID'
  return type.kind === 'array' ? 'an array' : type.kind === 'tuple' ? 'a tuple' : type.kind === 'map' ? 'a map' : null
}

/** The right side with its columns in the order of the left; missing columns are null. */
function byName(session: Session, left: TypedQuery, right: TypedQuery, span: Span): TypedQuery {
  const alias = session.alias('named')
  const found = outputColumns(right)
  const names = outputColumns(left).map((c) => c.name)
  const extra = found.find((c) => !names.includes(c.name))
  if (extra) throw new QueryError('invalid-query', { message: `The left side has no column '${extra.name}'` }, span)
  const columns = outputColumns(left).map(({ name, alias: own }): TypedColumn => {
    const column = found.find((c) => c.name === name)
    return {
      name,
      alias: own,
      expr: column ? { kind: 'column', source: alias, name: column.alias, type: column.type, span } : constant(null, span),
    }
  })
  return { ...emptySelect, columns, from: { kind: 'derived', alias, query: right }, span }
}
