import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Call, Field, In, Query } from '../ast/nodes.ts'
import { scalar } from '../types/types.ts'
import { builtCall } from './calls.ts'
import { columnOf } from './property-columns.ts'
import type { Outer, Scope } from './scope.ts'
import type { Session } from './session.ts'
import { childrenOf, hasAggregate, hasWindow, holdsQuery, isAggregateCall } from './shape.ts'
import { type ColumnNode, type ExistsNode, emptySelect, outputColumns, type TypedExpr, type TypedQuery, type TypedSelect } from './typed.ts'

// Subqueries that read columns of the select around them.

export interface ResolvedSubquery {
  readonly query: TypedQuery
  readonly outer: readonly ColumnNode[]
}

/** A query in EXISTS or IN: names that it does not define are looked up in the outer query. */
export function resolveSubquery(session: Session, query: Query, scope: Scope): ResolvedSubquery {
  const outer: Outer = { scope, reads: new Set() }
  const typed = session.query(query, scope, outer)
  return { query: typed, outer: [...outer.reads] }
}

/** The `reads` field of a node; absent if nothing is read. */
export const outerOf = (outer: readonly ColumnNode[]) => (outer.length ? { outer } : {})

/** Is the name known in this scope or an outer one? A name that leads to another table yields to all others. */
export function knows({ aliases, sources, outer }: Scope, field: Field, leading: boolean): boolean {
  const { chain } = field
  const [head] = chain as [string]
  const isHere = leading
    ? sources.some((source) => source.leadsToTable?.(head))
    : aliases.has(head) || sources.some((source) => source.has(head) || (chain.length > 1 && source.name === head))
  return isHere || (outer !== null && knows(outer.scope, field, leading))
}

/** A subquery may read only plain values of the outer query's row. */
export function readOuter(outer: Outer, field: Field, resolve: (scope: Scope) => TypedExpr): TypedExpr {
  // A lambda around the subquery has no row to join with.
  const expr = resolve({ ...outer.scope, parameters: new Map(), aggregate: null })
  const what = hasAggregate(expr) ? 'an aggregate' : hasWindow(expr) ? 'a window function' : holdsQuery(expr) ? 'a subquery' : null
  if (what) {
    const message = `A correlated subquery cannot read '${field.chain.join('.')}' of the outer query: it is ${what}. Make it a column of a subquery in FROM.`
    throw new QueryError('invalid-query', { message }, field.span)
  }
  for (const column of columnsIn(expr)) outer.reads.add(column)
  return expr
}

export function columnsIn(expr: TypedExpr): ReadonlySet<ColumnNode> {
  const found = new Set<ColumnNode>()
  const seen = new Set<TypedExpr>()
  const look = (node: TypedExpr): void => {
    if (seen.has(node)) return
    seen.add(node)
    if (node.kind === 'column') found.add(node)
    for (const child of childrenOf(node)) look(child)
  }
  look(expr)
  return found
}

/** An aggregate in a subquery aggregates the subquery's own rows. */
export function checkFolded({ name, span }: Call, args: readonly TypedExpr[], { sources }: Scope): void {
  const columns = args.flatMap((arg) => [...columnsIn(arg)])
  if (columns.length === 0 || columns.some(({ source }) => sources.some(({ alias }) => alias === source))) return
  const message = `'${name}' in a subquery needs a column of the subquery: here it reads only columns of the outer query`
  throw new QueryError('invalid-query', { message }, span)
}

/** `x IN (SELECT y …)` with outer columns becomes `EXISTS (SELECT … WHERE y = x)`, which more engines support. */
export function correlatedIn(
  session: Session,
  { sought, query, outer }: { sought: readonly TypedExpr[]; query: TypedQuery; outer: readonly ColumnNode[] },
  { not, span }: Pick<In, 'not' | 'span'>,
): TypedExpr {
  for (const expr of sought)
    if (!isValueOfRow(expr))
      throw new QueryError('unsupported-syntax', { what: 'a correlated IN whose left side is not a value of one row' }, expr.span)
  const columns = sought.flatMap((expr) => [...columnsIn(expr)])
  const exists: ExistsNode = {
    kind: 'exists',
    query: withCondition(session, query, (found) => sought.map((expr, i) => builtCall('equals', [found[i]!, expr], span)), span),
    outer: [...new Set([...outer, ...columns])],
    type: scalar('Bool'),
    span,
  }
  return not ? builtCall('not', [exists], span) : exists
}

const isValueOfRow = (expr: TypedExpr): boolean =>
  expr.kind !== 'parameter' &&
  expr.kind !== 'arrayJoin' &&
  !hasAggregate(expr) &&
  !hasWindow(expr) &&
  !holdsQuery(expr) &&
  childrenOf(expr).every(isValueOfRow)

/** The rows of a query whose columns satisfy conditions. */
function withCondition(
  session: Session,
  query: TypedQuery,
  conditionsOn: (columns: readonly TypedExpr[]) => TypedExpr[],
  span: Span,
): TypedSelect {
  if (query.kind === 'select' && isPlain(query)) {
    const conditions = [...(query.where ? [query.where] : []), ...conditionsOn(query.columns.map(({ expr }) => expr))]
    return { ...query, where: all(conditions, span) }
  }
  const alias = session.alias('found')
  const columns = outputColumns(query).map((column) => ({ ...column, expr: columnOf(alias, column, span) }))
  const where = all(conditionsOn(columns.map(({ expr }) => expr)), span)
  return { ...emptySelect, columns, from: { kind: 'derived', alias, query }, where, span }
}

const all = (conditions: readonly TypedExpr[], span: Span): TypedExpr =>
  conditions.length === 1 ? conditions[0]! : builtCall('and', conditions, span)

/** Has columns and conditions that are plain values of a row, so further conditions may be added. */
const isPlain = ({ columns, groupBy, having, qualify, limit, limitBy }: TypedSelect): boolean =>
  !groupBy && !having && !qualify && !limit && !limitBy && columns.every(({ expr }) => isValueOfRow(expr))

/** After grouping there is no row that a subquery could read. */
export function checkCorrelation(session: Session, parts: readonly TypedExpr[]): void {
  const seen = new Set<TypedExpr>()
  const check = (expr: TypedExpr): void => {
    if (seen.has(expr) || isAggregateCall(expr)) return
    seen.add(expr)
    const read = expr.kind === 'exists' && expr.outer?.[0]
    if (read) {
      const message = 'A subquery cannot read rows of the outer query after its GROUP BY: group in a subquery in FROM, and read its columns'
      session.report(new QueryError('invalid-query', { message }, expr.span))
    } else for (const child of childrenOf(expr)) check(child)
  }
  for (const part of parts) check(part)
}
