import type { Expr } from '../language/ast/nodes.ts'
import { walk } from '../language/ast/walk.ts'
import { lookup } from '../language/functions/registry.ts'

// Shared by lists of events and of actors: columns and orders as texts, with labels that are not part of them.

const direction = /\s(?:ASC|DESC)$/i
/** Between two quotes that follow one another. */
const hasQuotedDashes = (text: string): boolean =>
  text
    .split("'")
    .slice(1, -1)
    .some((part) => part.includes('--'))

/** `properties.email -- Email DESC` is `properties.email DESC`. */
export function withoutLabel(text: string): string {
  const dashes = text.indexOf('--')
  if (dashes < 0 || hasQuotedDashes(text)) return text.trim()
  return `${text.slice(0, dashes).trim()}${direction.exec(text.slice(dashes + 2).trimEnd())?.[0] ?? ''}`
}

/** Does the expression aggregate several rows? A window function does not. */
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
