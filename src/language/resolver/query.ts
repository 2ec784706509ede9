import { QueryError } from '../../errors/errors.ts'
import type { Expr, OrderItem, Query, Select } from '../ast/nodes.ts'
import { resolveArrayJoin } from './array-join.ts'
import { builtCall } from './calls.ts'
import { collectAliases, positional, resolveColumns, uniqueAliases } from './columns.ts'
import { rowCount } from './constants.ts'
import { resolveWith } from './ctes.ts'
import { attempt, resolveExpr, resolveOrder, resolveOrderBy } from './expressions.ts'
import { checkFill, resolveFill } from './fill.ts'
import { checkClause, checkGrouping, checkTotals, isGrouped, resolveGroupBy, seesWindows } from './grouping.ts'
import { resolveLimit } from './limits.ts'
import { keyOf, ordered, readAs } from './property-values.ts'
import { type Outer, openScope, type Scope } from './scope.ts'
import type { Session } from './session.ts'
import { resolveSet } from './sets.ts'
import { joinSources } from './sources.ts'
import type { TypedCte, TypedExpr, TypedOrder, TypedQuery, TypedSelect, TypedSource } from './typed.ts'

export function resolveQuery(session: Session, query: Query, parent: Scope | null, outer: Outer | null): TypedQuery {
  const { ctes, typed } = resolveWith(session, query, parent?.ctes ?? new Map())
  return query.kind === 'select'
    ? resolveSelect(session, query, openScope(ctes, outer, parent), typed, parent === null)
    : resolveSet(session, query, openScope(ctes, outer, parent), typed)
}

function resolveSelect(session: Session, select: Select, scope: Scope, typedCtes: readonly TypedCte[], isStatement: boolean): TypedSelect {
  const { ctes } = scope
  for (const window of select.windows) scope.windows.set(window.name, window.window)
  // After an error in FROM, names cannot be resolved.
  let build: () => TypedSource | null = select.from ? joinSources(session, select.from, scope) : () => null
  collectAliases(select, scope)
  if (select.arrayJoin) build = resolveArrayJoin(session, select.arrayJoin, scope, build)

  const columns = uniqueAliases(resolveColumns(session, select, scope))
  const before: Scope = { ...scope, isBeforeGrouping: true }
  const condition = (expr: Expr, inner: Scope): TypedExpr => readAs(attempt(session, expr, inner), 'boolean')
  const conditions = [select.prewhere, select.where].filter((c) => c !== null).map((c) => condition(c, before))
  for (const condition of conditions) checkClause(session, 'WHERE', condition)
  const where = conditions.length === 2 ? builtCall('and', conditions, select.span) : (conditions[0] ?? null)
  const position = (expr: Expr, inner: Scope): TypedExpr => positional(expr, columns) ?? attempt(session, expr, inner)
  const order = (item: OrderItem): readonly TypedOrder[] => {
    const column = positional(item.expr, columns)
    if (!column && !item.fill) return resolveOrderBy(session, [item], scope)
    const typed = column
      ? { expr: column, descending: item.descending, nulls: item.nulls ?? 'last' }
      : resolveOrder(session, { ...item, fill: null }, scope)
    if (!item.fill) return ordered(typed)
    const { fill } = item
    return [
      session.attempt<TypedOrder>(
        () => ({ ...typed, fill: resolveFill(session, fill, typed) }),
        () => typed,
      ),
    ]
  }

  if (columns.length === 0 && session.problems.length === 0)
    throw new QueryError('invalid-query', { message: 'The select list is empty: EXCEPT removes every column' }, select.columns[0]!.span)
  const orderBy = select.orderByAll
    ? columns.flatMap((column) => ordered({ expr: column.expr, descending: false, nulls: 'last' }))
    : select.orderBy.flatMap(order)
  const groupBy = select.groupBy ? resolveGroupBy(select.groupBy, columns, (expr) => position(expr, before)) : null
  for (const key of groupBy ? [...groupBy.items, ...groupBy.sets.flat()] : []) checkClause(session, 'GROUP BY', key)
  const having = select.having ? condition(select.having, scope) : null
  checkClause(session, 'HAVING', having, true)
  const typed: TypedSelect = {
    kind: 'select',
    ctes: typedCtes,
    columns,
    distinct: select.distinct,
    distinctOn: select.distinctOn.map((expr) => keyOf(position(expr, scope))),
    where,
    groupBy,
    having,
    qualify: select.qualify ? condition(select.qualify, scope) : null,
    orderBy,
    limitBy: select.limitBy && {
      limit: rowCount(resolveExpr(session, select.limitBy.limit, openScope(ctes)), 'LIMIT BY'),
      offset: select.limitBy.offset ? rowCount(resolveExpr(session, select.limitBy.offset, openScope(ctes)), 'OFFSET') : 0,
      by: select.limitBy.by.map((expr) => keyOf(position(expr, scope))),
    },
    limit: select.limit && resolveLimit(session, select.limit, orderBy),
    from: null,
    span: select.span,
  }
  if (select.settings.length) throw new QueryError('unsupported-syntax', { what: 'SETTINGS' }, select.settings[0]!.span)
  for (const key of typed.limitBy?.by ?? []) checkClause(session, 'LIMIT BY', key, true)
  // Last, when all reads of the sources are known.
  const whole = { ...filtered(typed), from: build() }
  if (session.problems.length === 0) {
    checkTotals(session, whole, isStatement, select.groupBy?.span ?? select.span)
    checkFill(session, whole)
    checkGrouping(session, whole, new Set(scope.sources.map(({ alias }) => alias)))
    if (whole.having && !isGrouped(whole))
      session.report(
        new QueryError('invalid-query', { message: 'HAVING needs GROUP BY or an aggregate: filter rows with WHERE' }, whole.having.span),
      )
  }
  return whole
}

/** Without windows, QUALIFY is one more condition on rows or groups. */
function filtered(select: TypedSelect): TypedSelect {
  const { qualify } = select
  if (!qualify || seesWindows(select)) return select
  const clause = isGrouped(select) ? 'having' : 'where'
  const own = select[clause]
  return { ...select, qualify: null, [clause]: own ? builtCall('and', [own, qualify], qualify.span) : qualify }
}
