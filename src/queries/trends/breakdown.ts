import { call, equals, literal, not } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'
import { type Breakdown, type BreakdownPart, breakdownOf, partText, partValue } from '../series/breakdown.ts'
import { nullValue, otherValue } from '../series/breakdown-values.ts'
import { type Bins, binOf, parseBin } from './histogram.ts'
import { displayOf, type TrendsQuery } from './schema.ts'

const mapLimit = 250

export const trendsBreakdown = (query: TrendsQuery): Breakdown =>
  breakdownOf(query.breakdownFilter, displayOf(query) === 'WorldMap' ? mapLimit : undefined)

/** The text that rows are grouped by: never null, because a missing value is a group too. */
export function groupText(
  part: BreakdownPart,
  bins: Bins | null,
  breakdown: Pick<Breakdown, 'cleansPaths'>,
  env: QueryContext,
  value = partValue(part, env),
): Expr {
  if (part.binCount !== null) return bins ? binOf(call('toFloat', value), bins) : literal(nullValue)
  return call('coalesce', call('nullif', partText(part, breakdown, env, value), literal('')), literal(nullValue))
}

/** Condition for events with one value of the part; null: all of them. */
export function partEquals(part: BreakdownPart, value: string, breakdown: Breakdown, env: QueryContext): Expr | null {
  if (value === otherValue) return null
  if (part.binCount === null) return equals(groupText(part, null, breakdown, env), literal(value))
  const number = call('toFloat', partValue(part, env))
  if (value === nullValue) return call('or', call('isNull', number), not(call('isFinite', number)))
  const bin = parseBin(value)
  return (
    bin && call('and', call('isNotNull', number), call('greaterOrEquals', number, literal(bin[0])), call('less', number, literal(bin[1])))
  )
}
