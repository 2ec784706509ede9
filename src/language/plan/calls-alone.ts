import { QueryError } from '../../errors/errors.ts'
import { isSpanned, noSpan } from '../../errors/span.ts'
import { plainCall } from '../resolver/call-node.ts'
import { builtCall } from '../resolver/calls.ts'
import { constant } from '../resolver/constants.ts'
import { type CallNode, type CastNode, emptySelect, type TypedExpr, type TypedQuery } from '../resolver/typed.ts'
import { walk } from '../resolver/typed-walk.ts'
import { isNumeric, isTime, notNull, type SqlType, scalar } from '../types/types.ts'

// Each call of a statement in a statement of its own, over one row with sample values of the argument types. An engine that refuses such a
// statement refuses the call.

export interface CallAlone {
  readonly call: CallNode
  readonly query: TypedQuery
  /** The same call with one argument of another type; null if the function has no overload for it. */
  with(argument: number, type: SqlType): TypedQuery | null
}

const cast = (expr: TypedExpr, type: SqlType): TypedExpr => ({ kind: 'cast', expr, isTry: false, type, span: noSpan })
const text = (value: string) => constant(value, noSpan)

/** A sample value of a type; null if no constant can be written for it. */
function sampleOf(type: SqlType): TypedExpr | null {
  switch (type.kind) {
    case 'scalar': {
      const plain = notNull(type)
      if (type.name === 'Nothing') return constant(null, noSpan)
      if (type.name === 'Bool') return constant(true, noSpan)
      if (type.name === 'Date') return constant('2024-01-01', noSpan, scalar('Date'))
      if (isTime(type)) return constant(1_704_067_200_000_000n, noSpan, plain)
      if (isNumeric(type)) return cast(constant(1n, noSpan), plain)
      if (type.name === 'Interval') return builtCall('toIntervalDay', [constant(1n, noSpan)], noSpan)
      if (type.name === 'UUID') return cast(text('00000000-0000-0000-0000-000000000001'), plain)
      return type.name === 'Property' || type.name === 'Dynamic' ? null : text('a')
    }
    case 'array': {
      const item = sampleOf(type.item)
      return item && { kind: 'array', items: [item], type, span: noSpan }
    }
    case 'tuple': {
      const items = type.items.map(sampleOf)
      return items.every((item) => item !== null) ? { kind: 'tuple', items, type, span: noSpan } : null
    }
    case 'map': {
      const [key, value] = [sampleOf(type.key), sampleOf(type.value)]
      return key && value && builtCall('map', [key, value], noSpan)
    }
    case 'unknown':
      return text('a')
    default:
      return null
  }
}

/** The argument is constant, and stays in the call unchanged. */
function isConstant(expr: TypedExpr): boolean {
  switch (expr.kind) {
    case 'constant':
      return true
    case 'array':
    case 'tuple':
      return expr.items.every(isConstant)
    case 'cast':
      return isConstant(expr.expr)
    case 'call':
      return expr.row.kind === 'scalar' && !expr.row.seesRows && !expr.row.isVolatile && expr.args.every(isConstant)
    default:
      return false
  }
}

/** A call over a row with one column for each argument that is not constant. */
function overOneRow(call: CallNode, types: readonly SqlType[], changed?: number): TypedQuery | null {
  const values: TypedExpr[] = []
  const args: TypedExpr[] = []
  for (const [i, arg] of call.args.entries()) {
    if (i !== changed && isConstant(arg)) {
      args.push(arg)
      continue
    }
    const sample = sampleOf(arg.kind === 'lambda' ? arg.body.type : types[i]!)
    if (!sample) return null
    if (arg.kind === 'lambda') args.push({ ...arg, body: sample })
    else {
      args.push({ kind: 'column', source: 'row', name: `c${values.length}`, type: types[i]!, span: noSpan })
      values.push(sample)
    }
  }
  const { name, row, params, distinct, ignoreNulls } = call
  const over = row.kind === 'window' ? { partitionBy: [], orderBy: [], frame: null } : null
  const expr = plainCall(name, row, { args, params, distinct, ignoreNulls, over }, call.span)
  const input: TypedQuery = { ...emptySelect, from: null, columns: values.map((value, i) => column(`c${i}`, value)), span: noSpan }
  return {
    ...emptySelect,
    from: values.length > 0 ? { kind: 'derived', alias: 'row', query: input } : null,
    columns: [column('value', expr)],
    span: call.span,
  }
}
const column = (name: string, expr: TypedExpr) => ({ name, alias: name, expr })

function alone(call: CallNode): CallAlone | null {
  const types = call.args.map(({ type }) => type)
  // The type is known to the engine only, so no sample is known to fit.
  if (types.some(({ kind }) => kind === 'unknown')) return null
  const query = overOneRow(call, types)
  if (!query) return null
  return {
    call,
    query,
    with(argument, type) {
      try {
        return overOneRow(call, types.with(argument, type), argument)
      } catch (error) {
        if (error instanceof QueryError) return null
        throw error
      }
    },
  }
}

/** Casts in the source text of a statement. */
export function castsIn(query: TypedQuery): readonly CastNode[] {
  const found: CastNode[] = []
  walk(query, {
    expr: (expr) => {
      if (expr.kind === 'cast' && isSpanned(expr.span)) found.push(expr)
    },
  })
  return found
}

/** Calls in the source text of a statement, inner ones first; null if there are more than `most`. */
export function callsAlone(query: TypedQuery, most: number): readonly CallAlone[] | null {
  const found: CallNode[] = []
  walk(query, {
    expr: (expr) => {
      if (expr.kind === 'call' && isSpanned(expr.span) && !expr.row.seesRows) found.push(expr)
    },
  })
  const calls: CallAlone[] = []
  for (const call of found) {
    const one = alone(call)
    if (one && calls.push(one) > most) return null
  }
  return calls
}
