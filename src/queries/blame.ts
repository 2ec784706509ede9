import type { Expr } from '../ast/nodes.ts'
import type { ErrorData } from '../errors/codes.ts'
import { QueryError } from '../errors/errors.ts'
import { isSpanned } from '../errors/span.ts'
import { own } from '../lib/own.ts'
import { parseExpr } from '../parser/parse.ts'
import { hasAggregate } from './columns.ts'

// Some mistakes of a request show only in the statement that is made of it. They are said of the field whose text they come from.

interface FieldText {
  readonly attr: string
  readonly text: string
  /** An expression, the name of a column, a regular expression, or what only this function answers. */
  readonly is: 'expression' | 'column' | 'regex' | 'call'
  /** Folds the events of a bucket, as a filter or a key may not. */
  readonly mayFold?: boolean
}

type Json = Readonly<Record<string, unknown>>

/** The fields of a request, at any depth, that such a mistake can come from. */
function* textsOf(request: unknown, place: readonly (string | number)[]): Generator<FieldText> {
  if (typeof request !== 'object' || request === null) return
  if (!Array.isArray(request)) yield* ownTexts(request as Json, (name) => [...place, name].join('__'))
  for (const [name, value] of Object.entries(request)) yield* textsOf(value, [...place, name])
}

const breakdownIs: Readonly<Record<string, FieldText['is']>> = { hogql: 'expression', event_metadata: 'column', session: 'column' }

function* ownTexts(fields: Json, attr: (name: string) => string): Generator<FieldText> {
  const { type, key, value, operator, property, breakdown_type: breakdownType } = fields
  if (fields.math === 'hogql' && typeof fields.math_hogql === 'string')
    yield { attr: attr('math_hogql'), text: fields.math_hogql, is: 'expression', mayFold: true }
  if (fields.math_property_type === 'session_properties')
    yield { attr: attr('math_property'), text: String(fields.math_property), is: 'column' }
  if (fields.math_property_revenue_currency) yield { attr: attr('math_property_revenue_currency'), text: 'convertCurrency', is: 'call' }

  const filterIs = type === 'hogql' ? 'expression' : type === 'session' ? 'column' : null
  if (filterIs && typeof key === 'string') yield { attr: attr('key'), text: key, is: filterIs }
  if (operator === 'regex' || operator === 'not_regex')
    for (const text of [value].flat()) yield { attr: attr('value'), text: String(text), is: 'regex' }

  const partIs = own(breakdownIs, String(type))
  if (partIs && property !== undefined) yield { attr: attr('property'), text: String(property), is: partIs }
  const allIs = own(breakdownIs, String(breakdownType))
  if (allIs) for (const text of [fields.breakdown ?? []].flat()) yield { attr: attr('breakdown'), text: String(text), is: allIs }
}

function read(text: string): Expr | null {
  try {
    return parseExpr(text)
  } catch {
    return null
  }
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

/** Errors of statements that name nothing. */
const aboutFolding = /\b(WHERE|GROUP BY) cannot hold an aggregate/
const aboutPatterns = /regular expression/i

function toBlame(error: QueryError, texts: readonly FieldText[]): FieldText | undefined {
  const expressions = texts.filter(({ is }) => is === 'expression')
  const unreadable = expressions.find(({ text }) => !read(text))
  if (unreadable) return unreadable
  const name = 'name' in error.data ? String(error.data.name) : null
  if (name !== null) {
    const isOf = ({ text, is }: FieldText) =>
      is === 'expression' ? text.includes(name) : name === text || (is === 'column' && name.endsWith(`.${text}`))
    return texts.find(isOf)
  }
  if (error.code === 'invalid-query' && aboutFolding.test(error.message))
    return expressions.find(({ text, mayFold }) => !mayFold && hasAggregate(read(text)!))
  if (error.code === 'engine-refused' && aboutPatterns.test(error.message)) {
    const pattern = texts.find(({ text, is }) => is === 'regex' && !isPattern(text))
    if (pattern) return pattern
  }
  const isOfText = error.code === 'engine-refused' || (error.span !== null && isSpanned(error.span))
  return isOfText && expressions.length === 1 ? expressions[0] : undefined
}

/** With the text that it speaks of. */
function inText(error: QueryError, source: string): QueryError {
  const isQuoted = error.span !== null && source[error.span.start] === '"'
  const data = error.code === 'unknown-field' && isQuoted ? { ...(error.data as ErrorData['unknown-field']), isQuoted } : error.data
  return error.with({ data, source, others: error.others.map((other) => (other instanceof QueryError ? inText(other, source) : other)) })
}

/**
 * A mistake in a statement with the text it stands in, and as a mistake in the field of the request whose text that is, where that can be told;
 * anything else unchanged.
 */
export function blamed(error: unknown, request: unknown): unknown {
  if (!(error instanceof QueryError) || error.attr || error.source !== null) return error
  const found = toBlame(error, [...textsOf(request, [])])
  if (found) return (found.is === 'expression' ? inText(error, found.text) : error).with({ attr: found.attr })
  const statement = (request as Json).query
  return typeof statement === 'string' ? inText(error, statement) : error
}
