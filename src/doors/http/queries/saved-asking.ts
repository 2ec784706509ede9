import { isObject } from '../../../lib/is-object.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import { refreshModes } from '../../../service/asking/refresh.ts'
import { type InsightAsking, savedRefresh } from '../../../service/saved/answers.ts'

// What a request for saved records says about their answers, in the parameters of its URL.

export const askingParameters = {
  refresh: `Whether answers are computed: by default only cached ones are shown; \`true\`, \`false\` or one of ${refreshModes.map((mode) => `\`${mode}\``).join(', ')}`,
  filters_override: 'JSON: `date_from`, `date_to` and `properties` that override those of the query',
  variables_override: 'JSON: variables of a statement by id',
  client_query_id: 'A name under which a query in the background can be polled and cancelled',
}

const jsonOf = (query: URLSearchParams, name: string): unknown => {
  const text = query.get(name)
  if (text === null || text === '') return null
  try {
    const value: unknown = JSON.parse(text)
    if (value === null || isObject(value)) return value
  } catch {
    // said below
  }
  throw invalid(`${name} must be a JSON object, as in {"date_from": "-7d"}.`, name)
}

const longestId = 200

export const readAsking = (query: URLSearchParams): InsightAsking => {
  const client_query_id = query.get('client_query_id') || null
  if (client_query_id !== null && client_query_id.length > longestId)
    throw invalid(`A client_query_id can have at most ${longestId} characters.`, 'client_query_id', 'max_length')
  return {
    refresh: savedRefresh(query.get('refresh')),
    filters: jsonOf(query, 'filters_override'),
    variables: jsonOf(query, 'variables_override'),
    client_query_id,
  }
}

/** Without overrides: the answer is the one that others see too. */
export const isUsual = ({ filters, variables }: InsightAsking): boolean => filters === null && variables === null
