import type { CallNode, TypedExpr } from '../resolver/typed.ts'

/** Whether one of these is computed of groups of rows. Subqueries have groups of their own. */
export const hasAggregate = (exprs: readonly TypedExpr[]): boolean => hasCall(exprs, ({ row, over }) => row.kind === 'aggregate' && !over)
export const hasWindow = (exprs: readonly TypedExpr[]): boolean => hasCall(exprs, ({ row, over }) => over !== null || row.seesRows === true)

function hasCall(exprs: readonly TypedExpr[], isWanted: (call: CallNode) => boolean): boolean {
  const seen = new Set<TypedExpr>()
  const look = (node: TypedExpr): boolean => {
    if (seen.has(node)) return false
    seen.add(node)
    switch (node.kind) {
      case 'constant':
      case 'column':
      case 'parameter':
      case 'scalarQuery':
      case 'exists':
        return false
      case 'json':
      case 'cast':
      case 'arrayJoin':
        return look(node.expr)
      case 'array':
      case 'tuple':
        return node.items.some(look)
      case 'lambda':
        return look(node.body)
      case 'in':
        return look(node.expr) || ('items' in node.set && node.set.items.some(look)) || ('value' in node.set && look(node.set.value))
      case 'call':
        if (isWanted(node)) return true
        return [...node.args, ...(node.over?.partitionBy ?? []), ...(node.over?.orderBy ?? []).map(({ expr }) => expr)].some(look)
    }
  }
  return exprs.some(look)
}
