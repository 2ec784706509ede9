import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Expr, GroupBy } from '../ast/nodes.ts'
import { readSuffix } from './bindings.ts'
import { checkCorrelation } from './correlation.ts'
import type { Session } from './session.ts'
import { childrenOf, hasAggregate, hasWindow, isAggregateCall, isWindowCall, shownParts } from './shape.ts'
import type { TypedColumn, TypedExpr, TypedGroupBy, TypedSelect } from './typed.ts'

const mostOfCube = 12

export function resolveGroupBy(groupBy: GroupBy, columns: readonly TypedColumn[], resolve: (expr: Expr) => TypedExpr): TypedGroupBy {
  const totals = groupBy.withTotals ? ({ withTotals: true } as const) : {}
  if (groupBy.withTotals && groupBy.mode !== 'plain' && groupBy.mode !== 'all')
    throw new QueryError(
      'unsupported-syntax',
      { what: `WITH TOTALS beside ${groupBy.mode === 'sets' ? 'GROUPING SETS' : groupBy.mode.toUpperCase()}` },
      groupBy.span,
    )
  if (groupBy.mode === 'all') {
    const plain = columns.filter((column) => !hasAggregate(column.expr)).map((column) => column.expr)
    return { mode: 'plain', items: plain, sets: [], ...totals }
  }
  if (groupBy.mode === 'cube' && groupBy.items.length > mostOfCube)
    throw new QueryError(
      'invalid-query',
      { message: `CUBE takes at most ${mostOfCube} expressions: each one doubles the groups` },
      groupBy.span,
    )
  return { mode: groupBy.mode, items: groupBy.items.map(resolve), sets: groupBy.sets.map((set) => set.map(resolve)), ...totals }
}

/** Reports an aggregate before rows are grouped, or a window function before windows are computed. */
export function checkClause(session: Session, clause: string, expr: TypedExpr | null, allowsAggregates = false): void {
  if (!expr) return
  const note = (found: TypedExpr | null, what: string) => {
    if (found) session.report(new QueryError('invalid-query', { message: `${clause} cannot contain ${what}` }, found.span))
  }
  if (!allowsAggregates && hasAggregate(expr))
    note(find(expr, isAggregateCall), clause === 'WHERE' ? 'an aggregate: use HAVING' : 'an aggregate')
  if (hasWindow(expr))
    note(
      find(expr, isWindowCall),
      `a window function: ${clause === 'WHERE' || clause === 'HAVING' ? 'use QUALIFY' : 'compute it in a subquery'}`,
    )
}

function find(expr: TypedExpr, is: (expr: TypedExpr) => boolean): TypedExpr | null {
  const seen = new Set<TypedExpr>()
  const look = (node: TypedExpr): TypedExpr | null => {
    if (seen.has(node)) return null
    seen.add(node)
    if (is(node)) return node
    for (const child of childrenOf(node)) {
      const found = look(child)
      if (found) return found
    }
    return null
  }
  return look(expr)
}

export const isGrouped = (select: TypedSelect): boolean => select.groupBy !== null || shownParts(select).some(hasAggregate)
export const seesWindows = (select: TypedSelect): boolean => shownParts(select).some(hasWindow)

/** After grouping only keys and aggregates can be read; outer columns are the same in all rows. */
export function checkGrouping(session: Session, select: TypedSelect, own: ReadonlySet<string>): void {
  if (!isGrouped(select)) return
  checkCorrelation(session, shownParts(select))
  const { items, sets } = select.groupBy ?? { items: [], sets: [] }
  const given = [...items, ...sets.flat()]
  // Aliases and positions are the key objects themselves. Expressions are compared only if that is not enough.
  if (shownParts(select).every(restsOn(new Set(given)))) return
  const { idOf } = session
  const keys = new Set(given.map(idOf))
  const seen = new Set<TypedExpr>()
  const check = (expr: TypedExpr): void => {
    if (seen.has(expr) || keys.has(idOf(expr))) return
    seen.add(expr)
    if (expr.kind === 'column' && !own.has(expr.source)) return
    if (expr.kind === 'column') session.report(new QueryError('not-grouped', { name: expr.name.replace(readSuffix, '') }, expr.span))
    else if (!isAggregateCall(expr)) for (const child of childrenOf(expr)) check(child)
  }
  for (const expr of shownParts(select)) check(expr)
}

/** Does the expression read rows only through one of these keys or an aggregate? */
function restsOn(keys: ReadonlySet<TypedExpr>): (expr: TypedExpr) => boolean {
  const seen = new Set<TypedExpr>()
  const rests = (expr: TypedExpr): boolean => {
    if (seen.has(expr) || keys.has(expr) || isAggregateCall(expr)) return true
    seen.add(expr)
    return expr.kind !== 'column' && childrenOf(expr).every(rests)
  }
  return rests
}

const isJoinOfGroups = (expr: TypedExpr): boolean => expr.kind === 'arrayJoin' && hasAggregate(expr.expr)

/** Totals belong to the whole statement and cover all its rows. */
export function checkTotals(session: Session, select: TypedSelect, isStatement: boolean, span: Span): void {
  if (!select.groupBy?.withTotals) return
  const what = !isStatement
    ? 'WITH TOTALS in a part of a statement'
    : select.having || select.qualify
      ? 'WITH TOTALS beside HAVING and QUALIFY'
      : select.distinct || select.distinctOn.length || select.limitBy
        ? 'WITH TOTALS beside DISTINCT and LIMIT BY'
        : seesWindows(select)
          ? 'WITH TOTALS beside windows'
          : shownParts(select).some((part) => find(part, isJoinOfGroups))
            ? 'WITH TOTALS beside an arrayJoin of an aggregate'
            : null
  if (what) session.report(new QueryError('unsupported-syntax', { what }, span))
}
