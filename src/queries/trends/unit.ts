import { call, field, literal } from '../../ast/build.ts'
import type { Expr } from '../../ast/nodes.ts'
import { day, type Micros } from '../../lib/zone.ts'
import type { PeriodRange } from '../comparison.ts'
import type { QueryContext } from '../kind.ts'
import { nearRange } from '../made-sessions.ts'
import { memberOf, person, since, until } from '../scope.ts'
import { firstTimeMaths, rollingMaths, type SeriesNode } from '../series.ts'
import { allOf, nodeFilters, nodeMatch, queryFilters } from '../series-condition.ts'
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
  if (group == null || node.math === 'unique_session') return { expr: person, condition: literal(true), group: null }
  const expr = field(`$group_${group}`)
  return { expr, condition: call('notEquals', expr, literal('')), group }
}

/** Path of the unit's series in the query. */
export const pathOf = ({ order }: Unit): string => `series__${order}`

export function filtersOf(unit: Unit, query: TrendsQuery, env: QueryContext): Expr {
  const context = query.madeSessions ? { ...env, madeSessions: { events: eventsNear(unit) } } : env
  return allOf(nodeFilters(unit.node, context, pathOf(unit)), queryFilters(query, context))
}

/** Of these the sessions of events without an id are made. */
function eventsNear({ node, range }: Unit): Expr {
  const isAny = (maths: readonly string[]) => maths.includes(node.math ?? '')
  const { firstEvent, to } = range
  return nearRange({
    to,
    firstEvent: isAny(firstTimeMaths) ? Number.NEGATIVE_INFINITY : isAny(rollingMaths) ? firstEvent - 31 * day : firstEvent,
  })
}
export const listsMakeNoSessions = 'sessions of events without an id are made by a statement'

export const eventsOf = (unit: Unit, query: TrendsQuery, env: QueryContext): Expr =>
  allOf(nodeMatch(unit.node, env, pathOf(unit)), filtersOf(unit, query, env), cohortFilter(unit))
