import { QueryError } from '../errors/errors.ts'
import { type ChildField, children } from './children.ts'
import type { Node } from './nodes.ts'
import type { PlanningBudget } from './planning-budget.ts'

/** A field's value: a node, lists of them, plain parts with nodes in them, or nothing. */
type Held = Node | readonly Held[] | { readonly [key: string]: Held } | string | null | undefined

type Fields = Readonly<Record<string, Held>>
const fieldsOf = (value: object) => value as unknown as Fields

function eachNode(held: Held, parts: ChildField['parts'], visit: (node: Node) => void): void {
  if (held === null || typeof held !== 'object') return
  if (Array.isArray(held)) for (const item of held as readonly Held[]) eachNode(item, parts, visit)
  else if (parts === null) visit(held as Node)
  else for (const { key, parts: below } of parts) eachNode(fieldsOf(held)[key], below, visit)
}

/** The nodes directly below, in order of visit. */
export function childrenOf(node: Node): Node[] {
  const found: Node[] = []
  for (const { key, parts } of children[node.kind]) eachNode(fieldsOf(node)[key], parts, (child) => found.push(child))
  return found
}

/** Visits a tree from the top. A visitor that answers false keeps out of what is below. */
export function walk(node: Node, visit: (node: Node) => unknown): void {
  if (visit(node) === false) return
  for (const { key, parts } of children[node.kind]) eachNode(fieldsOf(node)[key], parts, (child) => walk(child, visit))
}

/** Builds a tree anew from below: `replace` sees every node after its children. What stays the same is the same object. */
export function rewrite<N extends Node>(node: N, replace: (node: Node) => Node): N {
  return replace(rewriteFields(fieldsOf(node), children[node.kind], replace) as unknown as Node) as N
}

function rewriteFields(fields: Fields, of: readonly ChildField[], replace: (node: Node) => Node): Fields {
  let changed: Record<string, Held> | null = null
  for (const { key, parts } of of) {
    const before = fields[key]
    const after = rewriteHeld(before, parts, replace)
    if (after !== before) {
      changed ??= { ...fields }
      changed[key] = after
    }
  }
  return changed ?? fields
}

function rewriteHeld(held: Held, parts: ChildField['parts'], replace: (node: Node) => Node): Held {
  if (held === null || typeof held !== 'object') return held
  if (Array.isArray(held)) {
    const items = held as readonly Held[]
    let changed: Held[] | null = null
    for (let i = 0; i < items.length; i++) {
      const after = rewriteHeld(items[i], parts, replace)
      if (after !== items[i]) {
        changed ??= [...items]
        changed[i] = after
      }
    }
    return changed ?? held
  }
  return parts === null ? rewrite(held as Node, replace) : rewriteFields(fieldsOf(held), parts, replace)
}

/** What everything that walks a tree may rely on: recursion this deep fits the stack. */
export const maxTreeDepth = 500
/** A text this long counts as one node more: where the tree is printed back, a shared part is written out in each place. */
const charactersOfNode = 64

const weightOf = (node: Node): number => {
  const text = node.kind === 'literal' && typeof node.value === 'string' ? node.value : node.kind === 'cast' ? node.type : ''
  return 1 + Math.floor(text.length / charactersOfNode)
}

/**
 * Refuses trees that are too deep or too large to work on. What stands in several places counts in each: a subject of CASE stands once for each
 * branch, so nested ones multiply. Uses no recursion itself.
 */
export function assertSize(root: Node, budget: PlanningBudget): void {
  let level: Placed[] = [{ node: root, clause: null }]
  let selects = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxTreeDepth) throw new QueryError('too-deep', { limit: maxTreeDepth }, level[0]!.node.span)
    const next: Placed[] = []
    for (const { node, clause } of level) {
      budget.spend('tree', weightOf(node), node.span)
      if (node.kind === 'select') budget.allow('selects', ++selects, node.span)
      const isJoined = node.kind === 'call' && isConnective.has(node.name)
      if (clause && !isJoined) budget.allow('conditions', (++clause.conditions) ** 2, node.span)
      for (const { key, parts } of children[node.kind]) {
        const below = isCondition.has(key) ? { conditions: 0 } : isJoined ? clause : null
        eachNode(fieldsOf(node)[key], parts, (child) => next.push({ node: child, clause: below }))
      }
    }
    level = next
  }
}

/** A node, and the clause whose conditions it is one of. */
interface Placed {
  readonly node: Node
  readonly clause: { conditions: number } | null
}
/** Clauses of a select, by the name of the field. */
const isCondition: ReadonlySet<string> = new Set(['prewhere', 'where', 'having', 'qualify'])
const isConnective: ReadonlySet<string> = new Set(['and', 'or', 'not'])
