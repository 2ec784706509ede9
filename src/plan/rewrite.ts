import { uniqueNames } from '../lib/unique-names.ts'
import { holdsQuery } from '../resolver/shape.ts'
import type {
  TypedColumn,
  TypedCte,
  TypedExpr,
  TypedGroupBy,
  TypedOrder,
  TypedQuery,
  TypedSelect,
  TypedSource,
  TypedWindow,
} from '../resolver/typed.ts'

export interface Rules {
  /** Given a node whose parts are rewritten already. */
  readonly expr?: (expr: TypedExpr) => TypedExpr
  readonly source?: (source: TypedSource) => TypedSource
  readonly select?: (select: TypedSelect) => TypedSelect
  readonly cte?: (cte: TypedCte) => TypedCte
}

/**
 * A copy of the query with every node replaced by what the rules make of it, from the leaves up. What was one object stays one object: an
 * alias used in several places is still recognised as the same.
 */
export function rewrite(query: TypedQuery, rules: Rules): TypedQuery {
  const done = new Map<object, object>()
  const once = <T extends object>(node: T, make: () => T): T => {
    const known = done.get(node)
    if (known) return known as T
    const made = make()
    done.set(node, made)
    return made
  }
  const expr = (node: TypedExpr): TypedExpr => {
    // Rules for sources and selects find theirs in queries only.
    if (!rules.expr) return holdsQuery(node) ? once(node, () => withInside(node, expr, queryOf)) : node
    const rule = rules.expr
    return node.kind === 'constant' ? rule(node) : once(node, () => rule(withInside(node, expr, queryOf)))
  }
  const exprs = (items: readonly TypedExpr[]) => list(items, expr)
  const order = (item: TypedOrder): TypedOrder => withParts(item, { expr: expr(item.expr) })

  const source = (node: TypedSource): TypedSource =>
    once(node, () => {
      const next = insideSource(node)
      return rules.source ? rules.source(next) : next
    })
  function insideSource(node: TypedSource): TypedSource {
    switch (node.kind) {
      case 'scan':
      case 'cteRef':
        return node
      case 'derived':
        return withParts(node, { query: queryOf(node.query) })
      case 'rows':
        return withParts(node, { rows: node.rows.map(exprs) })
      case 'tableFunction':
        return withParts(node, { args: exprs(node.args) })
      case 'join':
        return withParts(node, { left: source(node.left), right: source(node.right), on: maybe(node.on, expr) })
      case 'unnest':
        return withParts(node, {
          input: maybe(node.input, source),
          items: list(node.items, (item) => withParts(item, { expr: expr(item.expr) })),
        })
    }
  }

  const queryOf = (node: TypedQuery): TypedQuery =>
    once(node, () => {
      const ctes = list(node.ctes, (cte) => {
        const next = withParts(cte, { query: queryOf(cte.query) })
        return rules.cte ? rules.cte(next) : next
      })
      if (node.kind === 'set')
        return withParts(node, { ctes, left: queryOf(node.left), right: queryOf(node.right), orderBy: list(node.orderBy, order) })
      const next = withParts(node, {
        ctes,
        from: maybe(node.from, source),
        columns: list(node.columns, (column: TypedColumn) => withParts(column, { expr: expr(column.expr) })),
        distinctOn: exprs(node.distinctOn),
        where: maybe(node.where, expr),
        groupBy: maybe(node.groupBy, (groupBy: TypedGroupBy) =>
          withParts(groupBy, { items: exprs(groupBy.items), sets: groupBy.sets.map(exprs) }),
        ),
        having: maybe(node.having, expr),
        qualify: maybe(node.qualify, expr),
        orderBy: list(node.orderBy, order),
        limitBy: maybe(node.limitBy, (limitBy) => withParts(limitBy, { by: exprs(limitBy.by) })),
      })
      return rules.select ? rules.select(next) : next
    })

  return queryOf(query)
}

const list = <T extends object>(items: readonly T[], each: (item: T) => T): readonly T[] => {
  const next = items.map(each)
  return next.every((item, i) => item === items[i]) ? items : next
}
const maybe = <T extends object>(node: T | null, each: (node: T) => T): T | null => (node ? each(node) : null)

type Each = (node: TypedExpr) => TypedExpr

const withOrder = (items: readonly TypedOrder[], expr: Each): readonly TypedOrder[] =>
  items.length ? list(items, (item) => withParts(item, { expr: expr(item.expr) })) : items
const withWindow = (spec: TypedWindow, expr: Each): TypedWindow =>
  withParts(spec, { partitionBy: list(spec.partitionBy, expr), orderBy: withOrder(spec.orderBy, expr) })

/** The expression with what stands directly inside of it replaced. */
export function withInside(node: TypedExpr, expr: Each, query: (node: TypedQuery) => TypedQuery = (same) => same): TypedExpr {
  switch (node.kind) {
    case 'constant':
    case 'column':
    case 'parameter':
      return node
    case 'json':
    case 'cast':
    case 'arrayJoin':
      return withParts(node, { expr: expr(node.expr) })
    case 'array':
    case 'tuple':
      return withParts(node, { items: list(node.items, expr) })
    case 'lambda':
      return withParts(node, { body: expr(node.body) })
    case 'scalarQuery':
      return withParts(node, { query: query(node.query) })
    case 'exists':
      return withParts(node, { query: query(node.query), ...(node.outer ? { outer: list(node.outer, expr) } : {}) })
    case 'in': {
      const { set } = node
      const next =
        'items' in set
          ? withParts(set, { items: list(set.items, expr) })
          : 'query' in set
            ? withParts(set, { query: query(set.query) })
            : withParts(set, { value: expr(set.value) })
      return withParts(node, { expr: expr(node.expr), set: next })
    }
    case 'call':
      return withParts(node, {
        params: node.params.length ? list(node.params, expr) : node.params,
        args: list(node.args, expr),
        orderBy: withOrder(node.orderBy, expr),
        filter: maybe(node.filter, expr),
        over: node.over && withWindow(node.over, expr),
      })
  }
}

/** The same object when nothing has changed. */
function withParts<T extends object>(node: T, parts: Partial<T>): T {
  for (const key in parts) if (parts[key] !== node[key]) return { ...node, ...parts }
  return node
}

/** Visits every source of a query, those of subqueries too. */
export function eachSource(query: TypedQuery, see: (source: TypedSource) => void): void {
  rewrite(query, {
    source: (source) => {
      see(source)
      return source
    },
  })
}

/** Gives out names for sources that no other source of the query has. */
export function freshAliases(query: TypedQuery): (wanted: string) => string {
  const unique = uniqueNames()
  eachSource(query, (source) => {
    if ('alias' in source) unique(source.alias)
  })
  return unique
}
