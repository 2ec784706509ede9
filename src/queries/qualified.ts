import type { Expr, Node } from '../language/ast/nodes.ts'
import { rewrite, walk } from '../language/ast/walk.ts'

/**
 * Qualifies fields with their table, so that they cannot be confused with an alias or another table's field. With `names` only fields of these
 * names are qualified. Fields of subqueries and parameters of lambdas do not change.
 */
export function qualified(expr: Expr, table: string, names?: ReadonlySet<string>): Expr {
  const kept = new Set<Node>()
  const keep = (below: Node, isKept: (name: string) => boolean) =>
    walk(below, (node) => {
      if (node.kind === 'field' && isKept(node.chain[0]!)) kept.add(node)
    })
  walk(expr, (node) => {
    if (node.kind === 'subquery') keep(node, () => true)
    if (node.kind === 'lambda') keep(node.body, (name) => node.params.includes(name))
    return node.kind !== 'subquery'
  })
  return rewrite(expr, (node) =>
    node.kind === 'field' && !kept.has(node) && (!names || names.has(node.chain[0]!)) ? { ...node, chain: [table, ...node.chain] } : node,
  )
}
