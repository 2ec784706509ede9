import type { Expr } from './nodes.ts'
import { print } from './print.ts'

/** What a column without an alias is called: the last part of a name, or the expression itself. */
export function columnName(expr: Expr): string {
  if (expr.kind === 'field') return expr.chain.at(-1)!
  return print(expr)
}
