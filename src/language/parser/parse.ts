import { EOF, type IRecognitionException, type IToken } from 'chevrotain'
import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Expr, OrderItem, Query } from '../ast/nodes.ts'
import { endsPlanning, PlanningBudget } from '../ast/planning-budget.ts'
import { assertSize } from '../ast/walk.ts'
import { Grammar } from './grammar.ts'
import { maxDepth } from './grammar-base.ts'
import { expectedIn } from './messages.ts'
import { patched } from './patch.ts'
import { endOf, tokenize } from './tokens.ts'

/** The tree, or null if parsing cannot continue, and all errors, ordered by position. */
export interface Parsed<T> {
  readonly ast: T | null
  readonly errors: readonly QueryError[]
}

type Entry<T> = (grammar: Grammar) => T

/** One parser for the process. Recording its grammar takes some milliseconds, so it is created with the first statement. */
let grammar: Grammar | null = null

const maxProblems = 10

function read<T extends Query | Expr | OrderItem>(text: string, entry: Entry<T>, budget: PlanningBudget): Parsed<T> {
  try {
    budget.spend('text', text.length)
    const lexed = tokenize(text)
    budget.spend('tokens', lexed.tokens.length)
    return readTokens(text, lexed, entry, budget)
  } catch (error) {
    if (endsPlanning(error)) return { ast: null, errors: [error as QueryError] }
    throw error
  }
}

function readTokens<T extends Query | Expr | OrderItem>(
  text: string,
  { tokens, problems }: ReturnType<typeof tokenize>,
  entry: Entry<T>,
  budget: PlanningBudget,
): Parsed<T> {
  if (problems.length > 0) {
    const errors = problems.map(({ message, start, end }) => new QueryError('syntax-error', { message }, { start, end }))
    return { ast: null, errors }
  }
  grammar ??= new Grammar()
  try {
    const ast = run(grammar, tokens, entry)
    if (grammar.errors.length + grammar.problems.length > 0) return { ast: null, errors: allProblems(grammar, tokens, entry, text) }
    assertSize(ast, budget)
    return { ast, errors: [] }
  } catch (error) {
    if (error instanceof QueryError) return { ast: null, errors: [error] }
    // The caller may have used most of the stack already.
    if (error instanceof RangeError) return { ast: null, errors: [new QueryError('too-deep', { limit: maxDepth }, { start: 0, end: 1 })] }
    throw error
  } finally {
    grammar.start([])
  }
}

function run<T>(parser: Grammar, tokens: IToken[], entry: Entry<T>): T {
  parser.start(tokens)
  return entry(parser)
}

/** The errors of the last run, and of further runs with its first error patched. */
function allProblems(parser: Grammar, tokens: IToken[], entry: Entry<unknown>, text: string): QueryError[] {
  const found = new Map<string, QueryError>()
  const add = (error: QueryError) => found.set(`${error.code} ${error.span?.start}`, error)
  let current = tokens
  let lastPatch = -2
  for (let runs = 0; runs < maxProblems; runs++) {
    for (const problem of parser.problems) add(problem)
    const mistake = parser.errors[0]
    if (!mistake) break
    const index = mistake.token.tokenType === EOF ? current.length : current.indexOf(mistake.token)
    // An error at the patch or directly after it is caused by the patch.
    if (index <= lastPatch + 1) break
    add(syntaxError(mistake, text))
    if (index >= current.length) break
    const patch = patched(current, index)
    current = patch.tokens
    lastPatch = patch.at
    run(parser, current, entry)
  }
  return [...found.values()].sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0))
}

function syntaxError(error: IRecognitionException, text: string): QueryError {
  return new QueryError('syntax-error', { message: error.message, expected: expectedIn(error.message) }, spanOf(error.token, text))
}

/** The end of the statement is the position after its last character. */
const spanOf = (token: IToken, text: string): Span =>
  token.tokenType === EOF
    ? { start: text.trimEnd().length, end: text.trimEnd().length + 1 }
    : { start: token.startOffset, end: endOf(token) }

function orThrow<T>({ ast, errors }: Parsed<T>): T {
  const [first, ...others] = errors
  if (first) throw others.length > 0 ? first.with({ others }) : first
  return ast!
}

export const collectQuery = (text: string, budget = new PlanningBudget()): Parsed<Query> =>
  read(text, (parser) => parser.statement(), budget)
export const collectExpr = (text: string, budget = new PlanningBudget()): Parsed<Expr> =>
  read(text, (parser) => parser.loneExpression(), budget)

/** Parses a statement. Throws the first error; its `others` holds the rest. */
export const parseQuery = (text: string, budget?: PlanningBudget): Query => orThrow(collectQuery(text, budget))
/** One expression, with or without an alias. */
export const parseExpr = (text: string, budget?: PlanningBudget): Expr => orThrow(collectExpr(text, budget))
/** One item of an ORDER BY: `timestamp DESC`. */
export const parseOrder = (text: string, budget = new PlanningBudget()): OrderItem =>
  orThrow(read(text, (parser) => parser.loneOrder(), budget))
