import type { TypedExpr } from '../resolver/typed.ts'
import { mapExprs, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/**
 * WHERE drops a row whether its condition is false or NULL, so a membership there may be either. Engines join with the set, or skip blocks of rows,
 * only for a plain `IN`.
 * Before: `WHERE a AND coalesce(x IN (…), false)`. After: `WHERE a AND x IN (…)`.
 */
export const rowConditions: Pass = (query) =>
  rewrite(query, {
    select(select) {
      const where = select.where && decidesOnRows(select.where)
      return where === select.where ? select : { ...select, where }
    },
  })

function decidesOnRows(condition: TypedExpr): TypedExpr {
  if (condition.kind === 'in' && !condition.not) return { ...condition, mayBeNull: true }
  return condition.kind === 'call' && condition.name === 'and' ? mapExprs(condition, decidesOnRows) : condition
}
