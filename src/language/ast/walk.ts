import { QueryError } from '../../errors/errors.ts'
import { eachChild, mapChildren } from '../../lib/tree.ts'
import { children } from './children.ts'
import type { Node } from './nodes.ts'
import type { PlanningBudget } from './planning-budget.ts'

/** The child nodes, in order of visit. */
export function childrenOf(node: Node): Node[] {
  const found: Node[] = []
  eachChild<Node>(node, children[node.kind], (child) => found.push(child))
  return found
}

/** Visits a tree from the root. If the visitor returns false for a node, its descendants are skipped. */
export function walk(node: Node, visit: (node: Node) => unknown): void {
  const enter = (one: Node): void => {
    if (visit(one) !== false) eachChild(one, children[one.kind], enter)
  }
  enter(node)
}

/** Rebuilds a tree from the leaves up: `replace` gets each node after its children. An unchanged node is the same object. */
export function rewrite<N extends Node>(node: N, replace: (node: Node) => Node): N {
  const enter = (one: Node): Node => replace(mapChildren(one, children[one.kind], enter))
  return enter(node) as N
}

/** Maximum depth of a tree: recursion of this depth fits on the stack. */
export const maxTreeDepth = 500
/** A text counts as one more node per this many characters: a printed tree repeats a shared part wherever it is used. */
const charactersOfNode = 64

const weightOf = (node: Node): number => {
  const text = node.kind === 'literal' && typeof node.value === 'string' ? node.value : node.kind === 'cast' ? node.type : ''
  return 1 + Math.floor(text.length / charactersOfNode)
}

/**
 * Refuses trees that are too deep or too large to process. A shared part counts once per use: the subject of CASE is used once per
 * branch, so nested ones multiply. Uses no recursion itself.
 */
export function assertSize(root: Node, budget: PlanningBudget): void {
  let nodes: Node[] = [root]
  /** For each node, the clause that it is a condition of. */
  let clauses: (Clause | null)[] = [null]
  let selects = 0
  for (let depth = 1; nodes.length > 0; depth++) {
    if (depth > maxTreeDepth) throw new QueryError('too-deep', { limit: maxTreeDepth }, nodes[0]!.span)
    const nodesBelow: Node[] = []
    const clausesBelow: (Clause | null)[] = []
    let inherited: Clause | null = null
    const add = (child: Node, field: string) => {
      nodesBelow.push(child)
      clausesBelow.push(isCondition.has(field) ? { conditions: 0 } : inherited)
    }
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]!
      const clause = clauses[i]!
      budget.spend('tree', weightOf(node), node.span)
      if (node.kind === 'select') budget.allow('selects', ++selects, node.span)
      const isJoined = node.kind === 'call' && isConnective.has(node.name)
      if (clause && !isJoined) budget.allow('conditions', (++clause.conditions) ** 2, node.span)
      inherited = isJoined ? clause : null
      eachChild(node, children[node.kind], add)
    }
    nodes = nodesBelow
    clauses = clausesBelow
  }
}

interface Clause {
  conditions: number
}
/** The clauses of a select, by field name. */
const isCondition: ReadonlySet<string> = new Set(['prewhere', 'where', 'having', 'qualify'])
const isConnective: ReadonlySet<string> = new Set(['and', 'or', 'not'])
