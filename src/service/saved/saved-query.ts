import * as z from 'zod'
import { checkRequest } from '../../engine/execution/request.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { isObject } from '../../lib/is-object.ts'
import { withinJson } from '../../limits/bounds.ts'
import { fieldLimits } from '../../limits/limits.ts'
import { type AskedQuery, queryAsked } from '../../queries/asked-query.ts'
import { invalid } from '../accounts/refusals.ts'

// The query of a saved record, checked when it is written, so that it can be asked later.

/** Characters of its JSON: a page has up to a thousand. */
const longest = fieldLimits.query.most

/** `checkedQuery` names what is too long. */
export const savedQuerySchema = withinJson(z.record(z.string(), z.unknown(), { error: 'Expected an object.' }), 'body').meta({
  description: 'A query with its `kind`, optionally in a node that sets how it is shown (`InsightVizNode`, `DataVisualizationNode`)',
})

/** The query to ask. An error names the field in the body: `query__source__interval`. */
export function checkedQuery(given: unknown, field: 'query' | 'filters' = 'query'): AskedQuery {
  let inner: AskedQuery | null = null
  try {
    inner = queryAsked(given)
    checkRequest(inner)
  } catch (error) {
    if (!(error instanceof WaymarkError)) throw error
    const place = [...(inner ? placeOf(given, inner) : []), ...(error.attr && error.attr !== 'query' ? [error.attr] : [])]
    // The place in the query is not one in the filters that it was made from.
    throw invalid(error.detail, field === 'filters' ? field : ['query', ...place].join('__'), 'invalid_input', {
      candidates: error.suggestions,
    })
  }
  if (JSON.stringify(given).length > longest)
    throw invalid(`The query is too long to be saved: it can have ${longest} characters as JSON.`, field, 'max_length')
  return inner
}

/** The names of the nodes around a query. */
function placeOf(given: unknown, inner: AskedQuery): string[] {
  const place: string[] = []
  for (let at = given; at !== inner && isObject(at); at = at.source) place.push('source')
  return place
}
