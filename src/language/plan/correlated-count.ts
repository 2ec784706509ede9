import { childrenOf, holdsQuery } from '../resolver/shape.ts'
import type { TypedExpr, TypedQuery, TypedSource } from '../resolver/typed.ts'
import { partsOf } from './parts-of.ts'

/** The number of correlated subqueries in a query after aliases and CTEs are expanded at each use. */
export function correlatedCount(top: TypedQuery): number {
  const counts = new Map<TypedExpr, number>()
  type Names = ReadonlyMap<string, number>
  const sum = <T>(items: readonly T[], of: (item: T) => number) => items.reduce((total, item) => total + of(item), 0)

  const ofQuery = (query: TypedQuery, around: Names): number => {
    const names = new Map(around)
    for (const cte of query.ctes) names.set(cte.name, ofQuery(cte.query, names))
    if (query.kind === 'set') return ofQuery(query.left, names) + ofQuery(query.right, names)
    return (query.from ? ofSource(query.from, names) : 0) + sum(partsOf(query), (expr) => ofExpr(expr, names))
  }
  const ofSource = (source: TypedSource, names: Names): number => {
    switch (source.kind) {
      case 'derived':
        return (source.lateral ? 1 : 0) + ofQuery(source.query, names)
      case 'cteRef':
        return names.get(source.name) ?? 0
      case 'join':
        return ofSource(source.left, names) + ofSource(source.right, names) + (source.on ? ofExpr(source.on, names) : 0)
      case 'unnest':
        return (source.input ? ofSource(source.input, names) : 0) + sum(source.items, ({ expr }) => ofExpr(expr, names))
      case 'rows':
        return sum(source.rows.flat(), (expr) => ofExpr(expr, names))
      default:
        return 0
    }
  }
  const ofExpr = (expr: TypedExpr, names: Names): number => {
    if (!holdsQuery(expr)) return 0
    const known = counts.get(expr)
    if (known !== undefined) return known
    const isQuery = expr.kind === 'exists' || expr.kind === 'scalarQuery'
    const inside = isQuery ? ofQuery(expr.query, names) : expr.kind === 'in' && 'query' in expr.set ? ofQuery(expr.set.query, names) : 0
    const count = (expr.kind === 'exists' && expr.outer ? 1 : 0) + inside + sum(childrenOf(expr), (child) => ofExpr(child, names))
    counts.set(expr, count)
    return count
  }
  return ofQuery(top, new Map())
}
