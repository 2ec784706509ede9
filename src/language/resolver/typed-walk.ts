import { uniqueNames } from '../../lib/text/unique-names.ts'
import { eachChild, mapChildren } from '../../lib/tree.ts'
import { holdsQuery } from './shape.ts'
import type { TypedExpr, TypedNode, TypedQuery, TypedSelect, TypedSource } from './typed.ts'
import { isExpr, isSource, typedChildren } from './typed-children.ts'

export interface Visitor {
  readonly expr?: (expr: TypedExpr) => void
  readonly source?: (source: TypedSource) => void
  readonly query?: (query: TypedQuery) => void
}

/** Visits a query bottom-up. A node that occurs several times is visited once. */
export function walk(query: TypedQuery, see: Visitor): void {
  const seen = new Set<TypedNode>()
  const enter = (node: TypedNode): void => {
    const expr = isExpr(node) ? node : null
    // Only queries hold sources and queries.
    if (expr && (!see.expr ? !holdsQuery(expr) : expr.kind === 'constant')) {
      see.expr?.(expr)
      return
    }
    if (seen.has(node)) return
    seen.add(node)
    eachChild(node, typedChildren[node.kind], enter)
    if (expr) see.expr?.(expr)
    else if (isSource(node)) see.source?.(node)
    else see.query?.(node as TypedQuery)
  }
  enter(query)
}

/** The replacement for each kind of node, given the node with its children replaced. */
export interface Rules {
  readonly expr?: (expr: TypedExpr) => TypedExpr
  readonly source?: (source: TypedSource) => TypedSource
  readonly select?: (select: TypedSelect) => TypedSelect
  readonly query?: (query: TypedQuery) => TypedQuery
}

/**
 * Rebuilds a query bottom-up. Shared objects stay shared: an alias used several times is still recognised as one expression.
 * Unchanged nodes are not copied.
 */
export function rewrite(query: TypedQuery, rules: Rules): TypedQuery {
  const done = new Map<TypedNode, TypedNode>()
  const ruled = (node: TypedNode): TypedNode => {
    if (isExpr(node)) return rules.expr ? rules.expr(node) : node
    if (isSource(node)) return rules.source ? rules.source(node) : node
    const next = rules.query ? rules.query(node) : node
    return rules.select && next.kind === 'select' ? rules.select(next) : next
  }
  const enter = (node: TypedNode): TypedNode => {
    if (isExpr(node)) {
      // Only queries hold sources and queries.
      if (!rules.expr ? !holdsQuery(node) : node.kind === 'constant') return ruled(node)
    }
    const known = done.get(node)
    if (known) return known
    const next = ruled(mapChildren(node, typedChildren[node.kind], enter))
    done.set(node, next)
    return next
  }
  return enter(query) as TypedQuery
}

/** The expression with its direct child expressions replaced; subqueries stay unchanged. */
export const mapExprs = (node: TypedExpr, replace: (expr: TypedExpr) => TypedExpr): TypedExpr =>
  mapChildren<TypedExpr, TypedNode>(node, typedChildren[node.kind], (child) => (isExpr(child) ? replace(child) : child))

/** Visits every source of a query, including those of subqueries. */
export const eachSource = (query: TypedQuery, see: (source: TypedSource) => void): void => walk(query, { source: see })

/** Makes aliases that no other source of the query has. The query is walked when the first one is asked for. */
export function freshAliases(query: TypedQuery): (wanted: string) => string {
  let unique: ((wanted: string) => string) | null = null
  return (wanted) => {
    unique ??= namesBesideSources(query)
    return unique(wanted)
  }
}

function namesBesideSources(query: TypedQuery): (wanted: string) => string {
  const unique = uniqueNames()
  eachSource(query, (source) => {
    if ('alias' in source) unique(source.alias)
  })
  return unique
}
