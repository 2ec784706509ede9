import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Cte, Query } from '../ast/nodes.ts'
import { walk } from '../ast/walk.ts'
import { tables } from '../catalog/tables.ts'
import type { SqlType } from '../types/types.ts'
import { isQuery } from './expressions.ts'
import { withColumns } from './property-columns.ts'
import { readAs } from './property-values.ts'
import { type CteBinding, openScope, type Scope } from './scope.ts'
import type { Session } from './session.ts'
import { setOf } from './sets.ts'
import { type OutputColumn, outputColumns, type TypedCte, type TypedQuery } from './typed.ts'

export function resolveWith(session: Session, query: Query, outer: Scope['ctes']) {
  session.budget.allow('selects', query.with.length, query.span)
  const ctes = new Map(outer)
  const typed: TypedCte[] = []
  for (const cte of query.with) {
    if (!isQuery(cte.body)) {
      ctes.set(cte.name, { kind: 'expression', expr: cte.body, scope: openScope(new Map(ctes)) })
      continue
    }
    const binding = resolveCte(session, cte, cte.body, query.recursive, ctes)
    ctes.set(cte.name, binding)
    typed.push(binding.cte)
  }
  return { ctes, typed }
}

function resolveCte(session: Session, cte: Cte, body: Query, recursive: boolean, ctes: Map<string, CteBinding>) {
  const name = session.cteName(cte.name)
  if (cte.usingKey.length) throw new QueryError('unsupported-syntax', { what: 'USING KEY' }, cte.span)
  const named = (query: TypedQuery) => {
    checkNames(cte.columns, outputColumns(query).length, cte.span)
    return cte.columns.length ? renamed(query, cte.columns) : query
  }
  const bind = (query: TypedQuery, columns: readonly OutputColumn[], isRecursive: boolean): CteBinding & { kind: 'query' } => ({
    kind: 'query',
    columns,
    cte: { name, recursive: isRecursive, materialized: cte.materialized, query },
  })
  const mentioned = (query: Query) => mentions(session, query, cte.name)
  const isRecursive = recursive && mentioned(body)
  if (isRecursive) {
    if (body.kind !== 'set' || body.op !== 'union' || mentioned(body.left))
      throw new QueryError(
        'invalid-query',
        { message: `The recursive CTE '${cte.name}' needs a first SELECT that does not refer to it, then UNION and the recursive SELECT` },
        cte.span,
      )
    if (body.orderBy.length || body.limit)
      throw new QueryError('unsupported-syntax', { what: 'ORDER BY and LIMIT in a recursive query' }, cte.span)
    // The first branch defines the columns; the second may then read them.
    const begun = session.query(body.left, openScope(ctes))
    const first = named(withColumns(session, begun, (expr) => readAs(expr, 'text'), body.span))
    const columns = outputColumns(first).map((column) => ({ ...column, type: widened(column.type) }))
    const self = new Map(ctes).set(cte.name, bind(first, columns, true))
    const second = session.query(body.right, openScope(self))
    return bind(setOf(session, body, first, second, [], new Map()), columns, true)
  }
  if (!recursive && mentioned(body) && !Object.hasOwn(tables, cte.name) && !ctes.has(cte.name))
    throw new QueryError('invalid-query', { message: `'${cte.name}' refers to itself, which needs WITH RECURSIVE` }, cte.span)
  const query = named(session.query(body, openScope(ctes)))
  return bind(query, outputColumns(query), false)
}

/** The query with its first columns renamed. */
function renamed(query: TypedQuery, names: readonly string[]): TypedQuery {
  const rename = <C extends { readonly name: string; readonly alias: string }>(columns: readonly C[]) =>
    columns.map((column, i) => (names[i] === undefined ? column : { ...column, name: names[i]!, alias: names[i]! }))
  if (query.kind === 'select') return { ...query, columns: rename(query.columns) }
  const byOldName = new Map(query.columns.map((column, i) => [column.alias, names[i] ?? column.alias]))
  const orderBy = query.orderBy.map((item) =>
    item.expr.kind === 'column' ? { ...item, expr: { ...item.expr, name: byOldName.get(item.expr.name) ?? item.expr.name } } : item,
  )
  return { ...query, left: renamed(query.left, names), columns: rename(query.columns), orderBy }
}

/** `1` starts a recursion as a small integer, but each round may add larger values. */
const widened = (type: SqlType): SqlType =>
  type.kind === 'scalar' && /^U?Int(8|16|32)$/.test(type.name) ? { ...type, name: 'Int64' } : type

function mentions(session: Session, query: Query, name: string): boolean {
  let found = false
  walk(query, (node) => {
    session.budget.spend('tree', 1, node.span)
    if (node.kind === 'table' && node.args === null && node.chain.length === 1 && node.chain[0] === name) found = true
    return !found
  })
  return found
}

/** Names for columns: at most as many as there are columns, and no duplicates. */
export function checkNames(names: readonly string[], columns: number, span: Span): void {
  if (names.length > columns)
    throw new QueryError(
      'invalid-query',
      { message: `The column list has ${names.length} names, but the query has ${columns} columns` },
      span,
    )
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new QueryError('invalid-query', { message: `Two columns are called '${twice}'` }, span)
}
