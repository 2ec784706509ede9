import { placed, QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Call } from '../ast/nodes.ts'
import { candidates, lookup } from '../functions/registry.ts'
import type { Arg, FunctionRow, ReturnsContext } from '../functions/row.ts'
import type { SqlType } from '../types/types.ts'
import { correctedCall } from './params.ts'
import type { CallNode, TypedExpr } from './typed.ts'

export function findRow(name: string, span: Span): { name: string; row: FunctionRow } {
  const found = lookup(name)
  if (!found) throw new QueryError('unknown-function', { name, candidates: candidates(name) }, span)
  return found
}

const args = new WeakMap<TypedExpr, Arg>()
/** An argument as a row's `returns` sees it, before printing. Memoized, since an expression may be used many times. */
function asArg(expr: TypedExpr): Arg {
  const { type } = expr
  if (expr.kind === 'constant') return { sql: '', type, constant: expr.value }
  if (expr.kind === 'lambda') return { sql: '', type, lambda: { params: expr.params, body: '', type: expr.body.type } }
  if (expr.kind !== 'array' && expr.kind !== 'tuple') return { sql: '', type }
  const known = args.get(expr)
  if (known) return known
  const arg: Arg = { sql: '', type, items: expr.items.map(asArg) }
  args.set(expr, arg)
  return arg
}

export function checkArity(call: Call, name: string, row: FunctionRow): void {
  const kind = row.kind === 'aggregate' ? 'Aggregation' : 'Function'
  const [min, max] = row.args
  const found = call.args.length
  const use = () => {
    const form = correctedCall({ ...call, name }, row)
    return form === null ? {} : { use: form }
  }
  if (found < min || (max !== null && found > max))
    throw new QueryError('wrong-arity', { name, kind, min, max, found, ...use() }, call.span)
  if (call.params === null) {
    if (row.params && row.params[0] > 0) throw new QueryError('missing-parameters', { name, kind, ...use() }, call.span)
    return
  }
  const [least, most] = row.params ?? [0, 0]
  const given = call.params.length
  if (given < least || (most !== null && given > most))
    throw new QueryError('wrong-parameters', { name, kind, min: least, max: most, found: given, ...use() }, call.span)
}

const none: readonly never[] = []
const typeOf = ({ type }: TypedExpr): SqlType => type

/** Evaluated lazily: hardly any row needs more than the types. */
class ReturnsArguments implements ReturnsContext {
  private readonly parts: Required<Pick<CallNode, 'args' | 'params' | 'orderBy'>>

  constructor(args: CallNode['args'], params: CallNode['params'], orderBy: CallNode['orderBy']) {
    this.parts = { args, params, orderBy }
  }
  get args(): readonly Arg[] {
    return this.parts.args.map(asArg)
  }
  get params(): readonly Arg[] {
    return this.parts.params.map(asArg)
  }
  get orderBy(): readonly SqlType[] {
    return this.parts.orderBy.map(({ expr }) => expr.type)
  }
}

export type CallParts = Pick<CallNode, 'args'> &
  Partial<Pick<CallNode, 'params' | 'distinct' | 'orderBy' | 'filter' | 'ignoreNulls' | 'over'>>

/** The call without conversions: the arguments must have the types that the row takes. */
export function plainCall(name: string, row: FunctionRow, parts: CallParts, span: Span): CallNode {
  const { args, params = none, orderBy = none } = parts
  const type = placed(span, () => row.returns(args.map(typeOf), new ReturnsArguments(args, params, orderBy)))
  return {
    kind: 'call',
    name,
    row,
    args,
    params,
    orderBy,
    distinct: parts.distinct ?? false,
    filter: parts.filter ?? null,
    ignoreNulls: parts.ignoreNulls ?? false,
    over: parts.over ?? null,
    type,
    span,
  }
}
