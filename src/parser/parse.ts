import { EOF, type IRecognitionException, type IToken } from 'chevrotain'
import type { Expr, OrderItem, Query } from '../ast/nodes.ts'
import { assertSize } from '../ast/walk.ts'
import { QueryError } from '../errors/errors.ts'
import type { Span } from '../errors/span.ts'
import { Grammar } from './grammar.ts'
import { endOf, tokenize } from './tokens.ts'

/** The tree, or null when there is none to go on with, and every problem found, in order of place. */
export interface Parsed<T> {
  readonly ast: T | null
  readonly errors: readonly QueryError[]
}

let grammar: Grammar | null = null

function read<T extends Query | Expr | OrderItem>(text: string, entry: (grammar: Grammar) => T): Parsed<T> {
  const { tokens, problems } = tokenize(text)
  if (problems.length)
    return { ast: null, errors: problems.map(({ message, start, end }) => new QueryError('syntax-error', { message }, { start, end })) }
  grammar ??= new Grammar()
  grammar.start(tokens)
  try {
    const ast = entry(grammar)
    const errors = [...grammar.problems, ...grammar.errors.map((error) => syntaxError(error, text))]
    if (errors.length) return { ast: null, errors: errors.sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0)) }
    assertSize(ast)
    return { ast, errors: [] }
  } catch (error) {
    if (error instanceof QueryError) return { ast: null, errors: [error] }
    throw error
  } finally {
    grammar.start([])
  }
}

function syntaxError(error: IRecognitionException, text: string): QueryError {
  return new QueryError('syntax-error', { message: error.message }, placeOf(error.token, text), { cause: error })
}

/** The end of the statement is the place behind its last character. */
const placeOf = (token: IToken, text: string): Span =>
  token.tokenType === EOF
    ? { start: text.trimEnd().length, end: text.trimEnd().length + 1 }
    : { start: token.startOffset, end: endOf(token) }

function orThrow<T>({ ast, errors }: Parsed<T>): T {
  const [first, ...others] = errors
  if (first) throw others.length ? new QueryError(first.code, first.data, first.span, { cause: first.cause, others }) : first
  return ast!
}

/** A statement. Throws the first problem; its `others` holds the rest. */
export const parseQuery = (text: string): Query => orThrow(collectQuery(text))
/** One expression, with or without an alias. */
export const parseExpr = (text: string): Expr => orThrow(collectExpr(text))
/** One item of an ORDER BY: `timestamp DESC`. */
export const parseOrder = (text: string): OrderItem => orThrow(read(text, (grammar) => grammar.loneOrder()))

export const collectQuery = (text: string): Parsed<Query> => read(text, (grammar) => grammar.statement())
export const collectExpr = (text: string): Parsed<Expr> => read(text, (grammar) => grammar.loneExpression())
