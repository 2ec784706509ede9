import { QueryError } from '../../errors/errors.ts'
import { parseExpr } from '../../parser/parse.ts'
import type { TrendsQuery } from './schema.ts'

interface FieldText {
  readonly attr: string
  readonly text: string
  readonly isExpression: boolean
}

const asExpression = new Set(['hogql', 'event_metadata', 'session'])

/** The fields of a query that hold an expression, or the name of a column. */
function* textsOf({ series, breakdownFilter }: TrendsQuery): Generator<FieldText> {
  for (const [i, { math, math_hogql: text }] of series.entries())
    if (math === 'hogql' && text) yield { attr: `series__${i}__math_hogql`, text, isExpression: true }
  for (const [i, { property, type }] of (breakdownFilter?.breakdowns ?? []).entries())
    if (asExpression.has(type ?? ''))
      yield { attr: `breakdownFilter__breakdowns__${i}__property`, text: String(property), isExpression: type === 'hogql' }
  const type = breakdownFilter?.breakdown_type ?? ''
  if (asExpression.has(type))
    for (const text of [breakdownFilter?.breakdown ?? []].flat())
      yield { attr: 'breakdownFilter__breakdown', text: String(text), isExpression: type === 'hogql' }
}

function canBeRead(text: string): boolean {
  try {
    parseExpr(text)
    return true
  } catch {
    return false
  }
}

/** A mistake in the statement as a mistake in the field whose text it comes from, where that can be told; anything else unchanged. */
export function blamed(error: unknown, query: TrendsQuery): unknown {
  if (!(error instanceof QueryError) || error.attr) return error
  const texts = [...textsOf(query)]
  const name = 'name' in error.data ? String(error.data.name) : null
  const isOf = ({ text, isExpression }: FieldText) =>
    name !== null && (isExpression ? text.includes(name) : name === text || name.endsWith(`.${text}`))
  const found = texts.find(({ text, isExpression }) => isExpression && !canBeRead(text)) ?? texts.find(isOf)
  if (!found) return error
  return new QueryError(error.code, error.data, error.span, { cause: error.cause, others: error.others, attr: found.attr })
}
