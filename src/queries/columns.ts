import type { Expr, OrderItem } from '../ast/nodes.ts'
import { walk } from '../ast/walk.ts'
import { lookup } from '../functions/registry.ts'
import { parseExpr, parseOrder } from '../parser/parse.ts'

// What lists of events and of actors share: columns and orders as texts, with labels that are no part of them.

const labelled = /^(.*?)\s*--.*?(\s+(?:ASC|DESC))?\s*$/is
const hasQuotedDashes = /'[^']*--[^']*'/

/** `properties.email -- Email DESC` is `properties.email DESC`. */
export function withoutLabel(text: string): string {
  if (!text.includes('--') || hasQuotedDashes.test(text)) return text.trim()
  const match = labelled.exec(text)
  return match ? `${match[1]!.trim()}${match[2] ?? ''}` : text.trim()
}

export const columnOf = (text: string): Expr => parseExpr(withoutLabel(text))
export const orderOf = (text: string): OrderItem => parseOrder(withoutLabel(text))

/** Does the expression fold several rows into one? A window does not. */
export function hasAggregate(expr: Expr): boolean {
  let found = false
  walk(expr, (node) => {
    if (found || node.kind === 'subquery') return false
    if (node.kind === 'call' && !node.over && lookup(node.name)?.row.kind === 'aggregate') found = true
    return !found
  })
  return found
}

export const isCount = (expr: Expr): boolean =>
  expr.kind === 'alias'
    ? isCount(expr.expr)
    : expr.kind === 'call' && expr.name.toLowerCase() === 'count' && expr.args.length === 0 && !expr.over

export const withoutAlias = (expr: Expr): Expr => (expr.kind === 'alias' ? expr.expr : expr)
