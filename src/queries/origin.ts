import type { ErrorData } from '../errors/codes.ts'
import { QueryError } from '../errors/errors.ts'
import type { Origin } from '../errors/span.ts'
import { children } from '../language/ast/children.ts'
import type { Expr, Node, OrderItem, Query } from '../language/ast/nodes.ts'
import { rewrite, walk } from '../language/ast/walk.ts'
import { parseExpr, parseOrder, parseQuery } from '../language/parser/parse.ts'
import { mapChildren } from '../lib/tree.ts'
import { withoutLabel } from './columns.ts'
import type { QueryContext } from './kind.ts'

// Nodes built from a field of the request carry its origin, so that an error that appears only in the statement is reported for that field.

type Prefix = Pick<QueryContext, 'fieldPrefix'>
type Text = readonly [text: string, attr: string]

const origin = (is: Origin['is'], [text, attr]: Text, { fieldPrefix = '' }: Prefix): Origin => ({ attr: `${fieldPrefix}${attr}`, text, is })

const comingFrom = <N extends Node>(from: Origin, node: N): N =>
  rewrite(node, (one) => (one.span.origin ? one : { ...one, span: { ...one.span, origin: from } }))

/** A field of a table whose name is in the request. */
export const named = (field: Expr, text: string, attr: string, env: Prefix): Expr => comingFrom(origin('name', [text, attr], env), field)

/** A regular expression in the request. */
export const patterned = (condition: Expr, text: string, attr: string, env: Prefix): Expr =>
  comingFrom(origin('pattern', [text, attr], env), condition)

/** An expression in the request. */
export const exprOf = (text: string, attr: string, env: Prefix): Expr => readFrom(origin('expression', [text, attr], env), parseExpr, text)

/** An expression over events, which other clients call `e` in expressions: `e.properties.price` is `properties.price`. */
export const eventExprOf = (text: string, attr: string, env: Prefix): Expr => withoutTable(exprOf(text, attr, env))

function withoutTable<N extends Node>(node: N): N {
  if (node.kind === 'field' && node.chain[0] === 'e' && node.chain.length > 1) return { ...node, chain: node.chain.slice(1) }
  // Another `e`: a parameter, or a table of the subquery itself.
  if (node.kind === 'subquery' || (node.kind === 'lambda' && node.params.includes('e'))) return node
  return mapChildren<Node, Node>(node, children[node.kind], withoutTable) as N
}

/** A column of a list, with or without a label. */
export const columnOf = (text: string, attr: string, env: Prefix): Expr =>
  readFrom(origin('expression', [text, attr], env), parseExpr, unlabelled(text))

/** An item of the order of a list. */
export const orderOf = (text: string, attr: string, env: Prefix): OrderItem =>
  readFrom(origin('expression', [text, attr], env), parseOrder, unlabelled(text))

/** A statement that is one field of the request. */
export const queryOf = (text: string, attr: string, env: Prefix): Query =>
  readFrom(origin('expression', [text, attr], env), parseQuery, text)

/** Positions are those in the original text. */
const unlabelled = (text: string) => ' '.repeat(text.length - text.trimStart().length) + withoutLabel(text)

function readFrom<N extends Node>(from: Origin, read: (text: string) => N, text: string): N {
  try {
    return comingFrom(from, read(text))
  } catch (error) {
    throw error instanceof QueryError ? eachOf(error, (one) => saidOf(one, from)) : error
  }
}

/** An error in the field: `attr` names it, and positions are positions in its text. */
export const saidOf = (error: QueryError, { attr, text, is }: Origin): QueryError =>
  (is === 'expression' ? inText(error, text) : error).with({ attr })

/** An error and its further errors. */
export function eachOf(error: QueryError, tell: (one: QueryError) => QueryError): QueryError {
  const others = error.others.map((other) => (other instanceof QueryError ? tell(other) : other))
  return tell(error).with({ others })
}

/** With the text that its position refers to. */
export function inText(error: QueryError, source: string): QueryError {
  return error.with({ data: dataIn(error, source) as never, source })
}

function dataIn({ code, data, span }: QueryError, source: string): unknown {
  if (span === null) return data
  const isQuoted = source[span.start] === '"'
  if (code === 'unknown-field' && isQuoted) return { ...(data as object), isQuoted }
  const { shown, use, isArgument } = data as ErrorData['type-mismatch']
  if (code !== 'type-mismatch' || !isArgument || !shown) return data
  const written = source.slice(span.start, span.end)
  // A generated value has no text written by the user.
  if (/[{}]/.test(written)) return data
  return { ...(data as object), shown: written, use: use?.replace(shown, () => written) ?? null }
}

/** The fields that parts of a statement come from, without duplicates. */
export function originsIn(node: Node): readonly Origin[] {
  const found = new Map<string, Origin>()
  walk(node, ({ span: { origin } }) => {
    if (origin) found.set(origin.attr, origin)
  })
  return [...found.values()]
}
