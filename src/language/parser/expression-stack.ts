import type { Span } from '../../errors/span.ts'
import { literal } from '../ast/build.ts'
import type { Between, Call, Expr, In, Literal } from '../ast/nodes.ts'
import { level, type OperatorRow } from './operators.ts'

// Turns a flat sequence of operands and operators into a tree, by the levels of `operators.ts`. One loop handles all levels, so a plain operand
// costs one grammar rule instead of fourteen.

type Pending =
  | { readonly kind: 'prefix'; readonly name: 'not' | 'negate'; readonly level: number; readonly start: number }
  | { readonly kind: 'binary'; readonly row: OperatorRow; readonly level: number }
  | { readonly kind: 'in'; readonly not: boolean; readonly cohort: boolean; readonly level: number }
  | { readonly kind: 'between'; readonly not: boolean; readonly low: Expr; readonly level: number }
  | { readonly kind: 'ternary'; readonly then: Expr; readonly level: number }

export const callNode = (name: string, args: readonly Expr[], span: Span): Call => ({
  kind: 'call',
  name,
  params: null,
  args,
  distinct: false,
  orderBy: [],
  filter: null,
  ignoreNulls: false,
  over: null,
  span,
})

const cover = (a: Expr, b: Expr): Span => ({ start: a.span.start, end: b.span.end })

export class ExpressionStack {
  readonly #operands: Expr[] = []
  readonly #pending: Pending[] = []
  /** The AND, OR or concatenation that this run built last: further operands of the same operator are added to it. */
  #chain: Expr | null = null
  /** Operators that bind more loosely than this are left to the caller. */
  readonly loosest: number

  constructor(loosest: number) {
    this.loosest = loosest
  }

  operand(expr: Expr): void {
    this.#operands.push(expr)
  }

  prefix(name: 'not' | 'negate', start: number): void {
    this.#pending.push({ kind: 'prefix', name, level: level[name], start })
  }

  infix(pending: Exclude<Pending, { kind: 'prefix' }>): void {
    this.#reduce(pending.level, pending.kind === 'ternary')
    this.#pending.push(pending)
  }

  binary(row: OperatorRow): void {
    this.infix({ kind: 'binary', row, level: row.level })
  }

  /** `x IS NULL`, `x IS NOT NULL` */
  postfix(name: 'isNull' | 'isNotNull', end: number): void {
    this.#reduce(level.isNull, false)
    const expr = this.#operands.pop()!
    this.#operands.push(callNode(name, [expr], { start: expr.span.start, end }))
  }

  finish(): Expr {
    this.#reduce(Number.POSITIVE_INFINITY, false)
    return this.#operands[0]!
  }

  #reduce(limit: number, isRightAssociative: boolean): void {
    for (let top = this.#pending.at(-1); top && (isRightAssociative ? top.level < limit : top.level <= limit); top = this.#pending.at(-1)) {
      this.#pending.pop()
      const right = this.#operands.pop()!
      this.#operands.push(top.kind === 'prefix' ? prefixed(top.name, right, top.start) : this.#joined(top, this.#operands.pop()!, right))
    }
  }

  #joined(operator: Exclude<Pending, { kind: 'prefix' }>, left: Expr, right: Expr): Expr {
    const span = cover(left, right)
    switch (operator.kind) {
      case 'in':
        return { kind: 'in', expr: left, set: right, not: operator.not, cohort: operator.cohort, span } satisfies In
      case 'between':
        return { kind: 'between', expr: left, low: operator.low, high: right, not: operator.not, span } satisfies Between
      case 'ternary':
        return callNode('if', [left, operator.then, right], span)
      case 'binary':
        return this.#binary(operator.row, left, right, span)
    }
  }

  #binary(row: OperatorRow, left: Expr, right: Expr, span: Span): Expr {
    if (row.isChain) {
      if (left === this.#chain && left.kind === 'call' && left.name === row.name) {
        // This run created the call and nothing else refers to it yet. Appending to it keeps a long chain linear.
        const call = left as { args: Expr[]; span: Span } & Call
        call.args.push(right)
        call.span = span
        return call
      }
      this.#chain = callNode(row.name, [left, right], span)
      return this.#chain
    }
    const pattern = row.ignoresCase ? ignoringCase(right) : right
    const call = callNode(row.name, [left, pattern], span)
    return row.isNegated ? callNode('not', [call], span) : call
  }
}

function prefixed(name: 'not' | 'negate', expr: Expr, start: number): Expr {
  const span = { start, end: expr.span.end }
  if (name === 'negate' && expr.kind === 'literal' && (expr.type === 'int' || expr.type === 'float')) {
    const value = expr.value as number | bigint
    return { ...expr, value: value === 0 && expr.type === 'int' ? 0 : demoted(-value), span } as Literal
  }
  return callNode(name, [expr], span)
}

/** -2^53 + 1 is safe although its digits alone may have been read as a bigint. */
const demoted = (value: number | bigint) => (typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value)

/** A null pattern stays null: comparisons with null are handled separately. */
function ignoringCase(pattern: Expr): Expr {
  if (pattern.kind === 'literal') return pattern.type === 'string' ? { ...pattern, value: `(?i)${pattern.value}` } : pattern
  const flag = { ...literal('(?i)'), span: pattern.span }
  const missing = { ...literal(null), span: pattern.span }
  const call = (name: string, ...args: Expr[]) => callNode(name, args, pattern.span)
  return call('if', call('isNull', pattern), missing, call('concat', flag, pattern))
}
