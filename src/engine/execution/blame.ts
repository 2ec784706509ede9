import { QueryError } from '../../errors/errors.ts'
import type { Origin } from '../../errors/span.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { eachOf, inText, originsIn, saidOf } from '../../queries/origin.ts'

// Some errors of a request appear only in the statement that is built from it. They are reported for the field whose text they come from.

function isPattern(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

/** The origin of an engine error without a position: the only field that it can come from. */
function onlyOrigin(error: QueryError, origins: readonly Origin[]): Origin | undefined {
  const patterns = origins.filter(({ is }) => is === 'pattern')
  if (/regular expression/i.test(error.message) && patterns.length > 0) return patterns.find(({ text }) => !isPattern(text)) ?? patterns[0]
  const expressions = origins.filter(({ is }) => is === 'expression')
  return expressions.length === 1 ? expressions[0] : undefined
}

function originOf(error: QueryError, statement: Query | null): Origin | undefined {
  if (error.span?.origin || !statement) return error.span?.origin
  // An error raised by a row names the field whose text the statement contains.
  if (error.attr) return originsIn(statement).find(({ attr }) => attr === error.attr)
  return error.code === 'engine-refused' && !error.span ? onlyOrigin(error, originsIn(statement)) : undefined
}

/**
 * Adds the source text to an error in a statement, and the field of the request that contains the text, if it is known;
 * other errors are returned unchanged.
 */
export function blamed(error: unknown, request: unknown, statement: Query | null = null): unknown {
  if (!(error instanceof QueryError) || error.source !== null) return error
  const text = (request as { readonly query?: unknown }).query
  return eachOf(error, (one) => {
    const origin = originOf(one, statement)
    if (origin) return saidOf(one, origin)
    return typeof text === 'string' && !one.attr ? inText(one, text) : one
  })
}
