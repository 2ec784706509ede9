import { call, equals, field, inQuery, literal, select, table } from '../../ast/build.ts'
import type { Expr, TableSource } from '../../ast/nodes.ts'
import { noSpan } from '../../errors/span.ts'
import { type Micros, zoneOf } from '../../lib/zone.ts'
import { isoInstant, type ResolvedRange } from '../dates.ts'
import type { QueryEnv } from '../kind.ts'
import type { SeriesNode } from '../series.ts'
import { allOf, nodeFilters, nodeMatch, queryFilters } from '../series-condition.ts'
import type { TrendsQuery } from './schema.ts'

export type Period = 'current' | 'previous'

/** One statement's worth of a query: a series, in a period, for one cohort when it is broken down by cohorts. */
export interface Unit {
  readonly node: SeriesNode
  readonly order: number
  readonly period: Period
  readonly range: ResolvedRange
  /** Starts of the buckets and the end of the last; null when one number is asked for. */
  readonly edges: readonly Micros[] | null
  readonly cohort: number | 'all' | null
}

export const at: Expr = field('@micros')
export const person: Expr = field('@person_no')

/** Beside `timestamp` the text is a constant of its type, so whole parts of the store are skipped by their times. */
export const instant = (micros: Micros): Expr => literal(isoInstant(micros, zoneOf('UTC')))
export const since = (from: Micros): Expr => call('greaterOrEquals', field('timestamp'), instant(from))
export const until = (to: Micros): Expr => call('lessOrEquals', field('timestamp'), instant(to))

export const timeFilter = ({ range }: Unit): Expr => allOf(since(range.firstEvent), until(range.to))

export const memberOf = (cohort: number): Expr =>
  inQuery(person, select({ columns: [person], from: table('cohort_people'), where: equals(field('cohort_id'), literal(cohort)) }))

export const cohortFilter = ({ cohort }: Pick<Unit, 'cohort'>): Expr =>
  cohort === null || cohort === 'all' ? literal(true) : memberOf(cohort)

/** Whom uniques count: persons, or the groups of one type. */
export function actorOf({ node }: Pick<Unit, 'node'>): { readonly expr: Expr; readonly condition: Expr; readonly group: number | null } {
  const group = node.math_group_type_index
  if (group == null || node.math === 'unique_session') return { expr: person, condition: literal(true), group: null }
  const expr = field(`$group_${group}`)
  return { expr, condition: call('notEquals', expr, literal('')), group }
}

export const filtersOf = (unit: Unit, query: TrendsQuery, env: QueryEnv): Expr =>
  allOf(nodeFilters(unit.node, env), queryFilters(query, env))

export const eventsOf = (unit: Unit, query: TrendsQuery, env: QueryEnv): Expr =>
  allOf(nodeMatch(unit.node, env), filtersOf(unit, query, env), cohortFilter(unit))

/** The events, or a share of them: those of the same distinct ids in every query with that factor. */
export function eventsTable({ samplingFactor }: Pick<TrendsQuery, 'samplingFactor'>): TableSource {
  const events = table('events')
  if (samplingFactor == null || samplingFactor === 1) return events
  return { ...events, sample: { kind: 'sample', size: literal(samplingFactor), offset: null, percent: false, span: noSpan } }
}
