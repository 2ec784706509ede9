import { call, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'
import type { BreakdownFilter } from '../schemas.ts'
import { breakdownOf, partText } from '../series/breakdown.ts'

/** The breakdown of a funnel: properties, whose values are read with the events, or cohorts, which are read separately. */
export interface FunnelBreakdown {
  /** Each the text of a property, '' if it is missing. */
  readonly parts: readonly Expr[]
  readonly cohorts: readonly (number | 'all')[]
  readonly limit: number
}

export const otherLabel = 'Other'
export const noValueLabel = 'None (i.e. no value)'

export const noSplit: FunnelBreakdown = { parts: [], cohorts: [], limit: 0 }

export function funnelBreakdown(filter: BreakdownFilter | null | undefined, env: QueryContext): FunnelBreakdown {
  const breakdown = breakdownOf(filter)
  const { parts, cohorts, limit } = breakdown
  return { parts: parts.map((part) => call('ifNull', partText(part, breakdown, env), literal(''))), cohorts, limit }
}
