import { call, field, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { day, type Micros } from '../../lib/time/zone.ts'
import type { QueryContext } from '../kind.ts'
import { nearRange } from '../lists/made-sessions.ts'
import { memberOf, person, since, until } from '../scope.ts'
import { mathFacts } from '../series/maths.ts'
import type { SeriesNode } from '../series/series.ts'
import { allOf, nodeFilters, nodeMatch, queryFilters } from '../series/series-condition.ts'
import type { PeriodRange } from '../time/comparison.ts'
import type { TrendsQuery } from './schema.ts'

/** One statement's worth of a query: a series, in a period, for one cohort if the breakdown is by cohorts. */
export interface Unit extends PeriodRange {
  readonly node: SeriesNode
  readonly order: number
  /** Starts of the buckets and the end of the last; null for a single number. */
  readonly edges: readonly Micros[] | null
  readonly cohort: number | 'all' | null
}

/** Microseconds, both included. */
export interface Times {
  readonly from: Micros
  readonly to: Micros
}

export const timeFilter = ({ range }: Unit): Expr => allOf(since(range.firstEvent), until(range.to))

export const cohortFilter = ({ cohort }: Pick<Unit, 'cohort'>): Expr =>
  cohort === null || cohort === 'all' ? literal(true) : memberOf(cohort)

/** The actors that uniques count: persons, or the groups of one type. */
export function actorOf({ node }: Pick<Unit, 'node'>): { readonly expr: Expr; readonly condition: Expr; readonly group: number | null } {
  const group = node.math_group_type_index
  if (group == null || mathFacts(node.math).counts === 'sessions') return { expr: person, condition: literal(true), group: null }
  const expr = field(`$group_${group}`)
  return { expr, condition: call('notEquals', expr, literal('')), group }
}

export const isFirstTime = ({ node }: Pick<Unit, 'node'>): boolean => mathFacts(node.math).counts === 'first events'

/** The property is a number of the session: one for all its events. */
export const isSessionDuration = ({ node: { math, math_property } }: Pick<Unit, 'node'>): boolean =>
  math_property === '$session_duration' && mathFacts(math).counts === 'numbers'

/** Path of the unit's series in the query. */
export const pathOf = ({ order }: Unit): string => `series__${order}`

export function filtersOf(unit: Unit, query: TrendsQuery, env: QueryContext): Expr {
  const context = query.madeSessions ? { ...env, madeSessions: { events: eventsNear(unit) } } : env
  return allOf(nodeFilters(unit.node, context, pathOf(unit)), queryFilters(query, context))
}

/** Of these the sessions of events without an id are made. */
function eventsNear({ node, range }: Unit): Expr {
  const { counts } = mathFacts(node.math)
  const { firstEvent, to } = range
  return nearRange({
    to,
    firstEvent: counts === 'first events' ? Number.NEGATIVE_INFINITY : counts === 'recent actors' ? firstEvent - 31 * day : firstEvent,
  })
}

export const eventsOf = (unit: Unit, query: TrendsQuery, env: QueryContext): Expr =>
  allOf(nodeMatch(unit.node, env, pathOf(unit)), filtersOf(unit, query, env), cohortFilter(unit))
