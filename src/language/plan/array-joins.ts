import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'
import { unnestCalls } from './unnest-calls.ts'

/**
 * `arrayJoin(x)` multiplies rows before all other clauses run. Equal calls of a select share one item.
 * Before: `SELECT arrayJoin(a) AS x … WHERE x > 1`. After: `SELECT item … FROM …, unnest(a) WHERE item > 1`.
 * A call whose argument holds an aggregate stays: it multiplies rows after the grouping.
 */
export const arrayJoins: Pass = (query, { capabilities, idOf }) => {
  if (capabilities.hasArrayJoinCall) return query
  const fresh = freshAliases(query)
  return rewrite(query, { select: (select) => unnestCalls(select, fresh, idOf) })
}
