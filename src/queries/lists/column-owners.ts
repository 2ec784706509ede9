import { and, field, not, or } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { rewrite, walk } from '../../language/ast/walk.ts'
import { personRevenue } from '../../language/catalog/computed-fields.ts'
import type { KeyTable } from '../kind.ts'

// Whose value an expression over events is: the event's own, its person's, or that of a row of another table which the event names.

/** A table whose rows events name by a text. */
export interface Linked {
  readonly table: KeyTable
  /** The text, of an event. */
  readonly link: Expr
  /** A field of the table, as it is named there. */
  readonly chainOf: (chain: readonly string[]) => readonly string[] | null
}
export type Owner = 'event' | 'person' | 'several' | Linked

const links: Readonly<Record<string, Linked>> = Object.fromEntries([
  ...[0, 1, 2, 3, 4].map((i) => [
    `group_${i}`,
    linked(`group_${i}`, { name: `@group_${i}`, key: 'key', isOfEvents: false }, `$group_${i}`),
  ]),
  ['session', linked('session', { name: 'sessions', key: 'session_id', isOfEvents: true }, '$session_id')],
])

function linked(name: string, target: KeyTable, link: string): Linked {
  return { table: target, link: field(link), chainOf: (chain) => (chain[0] === name && chain.length > 1 ? chain.slice(1) : null) }
}

export const personChain = (chain: readonly string[]): readonly string[] | null => {
  if (chain[0] === 'person' && chain.length > 1) return chain.slice(1)
  if (chain.length !== 1) return null
  return chain[0] === '@person_no' ? chain : chain[0] === 'person_id' ? ['id'] : null
}

/** The first person of a session is another one after a merge, and what a person has paid changes with events: no column keeps it. */
const changesWithOthers = (chain: readonly string[]) =>
  (chain[0] === 'session' && chain[1] === 'person_id') || (chain[0] === 'person' && chain.at(-1) === personRevenue)

export function ownerOf(expr: Expr): Owner {
  const owners = new Set<Owner>()
  walk(expr, (node) => {
    if (node.kind === 'subquery') return false
    if (node.kind !== 'field') return true
    if (changesWithOthers(node.chain)) owners.add('several')
    else if (personChain(node.chain)) owners.add('person')
    else owners.add(node.chain.length > 1 && Object.hasOwn(links, node.chain[0]!) ? links[node.chain[0]!]! : 'event')
    return true
  })
  if (owners.size > 1) return 'several'
  const [owner = 'event'] = owners
  return owner
}

/** The same expression over the table of its owner. Subqueries stay as they are. */
export function overTable(expr: Expr, chainOf: (chain: readonly string[]) => readonly string[] | null): Expr {
  if (expr.kind === 'in' && expr.set.kind === 'subquery') return { ...expr, expr: overTable(expr.expr, chainOf) }
  return rewrite(expr, (node) => (node.kind === 'field' ? { ...node, chain: chainOf(node.chain)! } : node))
}

/** Groups expressions of one owner. */
export function byOwner(parts: readonly Expr[]): readonly (readonly Expr[])[] {
  const groups = new Map<unknown, Expr[]>()
  for (const part of parts) {
    const owner = ownerOf(part)
    const key = owner === 'several' ? part : owner
    const known = groups.get(key)
    if (known) known.push(part)
    else groups.set(key, [part])
  }
  return [...groups.values()]
}

/** Conditions that are joined; null: it is one condition. */
export interface Junction {
  readonly from: 'any' | 'all'
  readonly parts: readonly Expr[]
  readonly joined: (parts: readonly Expr[]) => Expr
}

export function junctionOf(expr: Expr): Junction | null {
  if (expr.kind !== 'call') return null
  if (expr.name === 'or') return { from: 'any', parts: expr.args, joined: (parts) => or(...parts) }
  if (expr.name === 'and') return { from: 'all', parts: expr.args, joined: (parts) => and(...parts) }
  if (expr.name !== 'not') return null
  // NOT of NULL is NULL, so that both sides of De Morgan's laws hold in the same cases.
  const [inner] = expr.args as [Expr]
  if (inner.kind !== 'call') return null
  if (inner.name === 'not') return junctionOf(inner.args[0]!)
  const negated = inner.name === 'or' || inner.name === 'and' ? inner.args.map((part) => not(part)) : null
  if (!negated) return null
  return inner.name === 'or'
    ? { from: 'all', parts: negated, joined: (parts) => and(...parts) }
    : { from: 'any', parts: negated, joined: (parts) => or(...parts) }
}
