import type { ErrorData } from '../../errors/codes.ts'
import { QueryError } from '../../errors/errors.ts'
import { isSpanned } from '../../errors/span.ts'
import { takesOf } from '../functions/row.ts'
import type { ArrayJoinNode, CallNode, TypedExpr, TypedQuery } from '../resolver/typed.ts'
import { walk } from '../resolver/typed-walk.ts'
import { isNamed, isNumeric, isText, isTime, type SqlType, typeName } from '../types/types.ts'

// An engine's type error names neither the function nor the position. The likely cause is the call whose registry row asks for another type.

const isNumber = (type: SqlType) => isNumeric(type) || isNamed(type, 'Bool', 'Nothing')

interface Misfit {
  readonly call: Pick<CallNode, 'name' | 'span'>
  readonly argument: TypedExpr
  readonly needs: 'a number' | 'text' | 'an array'
}

function misfitsOf(call: CallNode): Misfit[] {
  const takes = takesOf(
    call.row,
    call.args.map(({ type }) => type),
  )
  return call.args.flatMap((argument, i): Misfit[] => {
    const { type } = argument
    if (type.kind !== 'scalar') return []
    if (takes[i] === 'number' || takes[i] === 'integer') return isNumber(type) ? [] : [{ call, argument, needs: 'a number' }]
    if (takes[i] === 'array') return isText(type) ? [{ call, argument, needs: 'an array' }] : []
    // A row without a rule accepts any type.
    return call.row.takes !== undefined && takes[i] === 'text' && (isNumber(type) || isTime(type))
      ? [{ call, argument, needs: 'text' }]
      : []
  })
}

const unnested = (call: ArrayJoinNode): Misfit[] =>
  isText(call.expr.type) ? [{ call: { name: 'arrayJoin', span: call.span }, argument: call.expr, needs: 'an array' }] : []

/** The suggested conversion: text becomes a number by toFloat, anything becomes text by toString. */
const suggestion = ({ argument, needs }: Misfit, shown: string | null): string | null => {
  if (shown === null) return null
  if (needs === 'text') return `toString(${shown})`
  if (needs === 'an array') return `JSONExtract(${shown}, 'Array(String)')`
  return isText(argument.type) ? `toFloat(${shown})` : null
}

/** An engine's type error, attributed to the call that caused it if that can be determined; other errors unchanged. */
export function asTypeMismatch(error: unknown, query: TypedQuery, source: string | null): unknown {
  const isOfTypes =
    error instanceof QueryError && error.code === 'engine-refused' && (error.data as ErrorData['engine-refused']).isAboutTypes
  if (!isOfTypes) return error
  const found: Misfit[] = []
  walk(query, {
    expr: (expr) => {
      if (expr.kind === 'call') found.push(...misfitsOf(expr))
      if (expr.kind === 'arrayJoin') found.push(...unnested(expr))
    },
  })
  const ofNumbers = found.filter(({ needs }) => needs === 'a number')
  // Text is never converted to a number or an array implicitly; many functions accept a number for a text.
  const misfit =
    found.find(({ needs }) => needs === 'an array') ??
    ofNumbers.find(({ argument }) => isText(argument.type)) ??
    ofNumbers[0] ??
    (found.length === 1 ? found[0] : undefined)
  if (!misfit) return error
  const { call, argument, needs } = misfit
  const { span } = argument
  const written = span.origin?.text ?? source
  const shown = written !== null && isSpanned(span) && span.end - span.start <= longestShown ? written.slice(span.start, span.end) : null
  return new QueryError(
    'type-mismatch',
    { name: call.name, needs, found: typeName(argument.type), shown, use: suggestion(misfit, shown) },
    isSpanned(span) ? span : call.span,
    { cause: error },
  )
}
const longestShown = 60
