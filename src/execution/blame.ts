import type { Query } from '../ast/nodes.ts'
import { QueryError } from '../errors/errors.ts'
import type { Origin } from '../errors/span.ts'
import { eachOf, inText, originsIn, saidOf } from '../queries/origin.ts'

// Some mistakes of a request show only in the statement that is made of it. They are said of the field whose text they come from.

function isPattern(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

/** What the engine refuses has no place: it is said of the field that it can only come from. */
function onlyOrigin(error: QueryError, statement: Query): Origin | undefined {
  const origins = originsIn(statement)
  const patterns = origins.filter(({ is }) => is === 'pattern')
  if (/regular expression/i.test(error.message) && patterns.length > 0) return patterns.find(({ text }) => !isPattern(text)) ?? patterns[0]
  const expressions = origins.filter(({ is }) => is === 'expression')
  return expressions.length === 1 ? expressions[0] : undefined
}

/**
 * A mistake in a statement with the text it stands in, and as a mistake in the field of the request whose text that is, where that can be told;
 * anything else unchanged.
 */
export function blamed(error: unknown, request: unknown, statement: Query | null = null): unknown {
  if (!(error instanceof QueryError) || error.attr || error.source !== null) return error
  const text = (request as { readonly query?: unknown }).query
  return eachOf(error, (one) => {
    const origin = one.span?.origin ?? (statement && one.code === 'engine-refused' ? onlyOrigin(one, statement) : undefined)
    if (origin) return saidOf(one, origin)
    return typeof text === 'string' ? inText(one, text) : one
  })
}
