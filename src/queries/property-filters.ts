import { and, call, equals, field, inQuery, isIn, literal, not, or, select, table } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import { QueryError } from '../errors/errors.ts'
import { parseExpr } from '../parser/parse.ts'
import type { Action, QueryEnv } from './kind.ts'

export type FilterScope = 'event' | 'person' | 'group' | 'session'
/** A list (all of them), or groups of AND and OR. */
export type PropertyFilters = unknown

interface Filter {
  readonly key?: unknown
  readonly value?: unknown
  readonly operator?: unknown
  readonly type?: unknown
  readonly values?: unknown
  readonly negation?: unknown
  readonly group_type_index?: unknown
}

const always = literal(true)

/** The condition that the filters are; literal true when nothing remains of them. */
export function compileFilters(filters: PropertyFilters, scope: FilterScope, env: QueryEnv): Expr {
  if (Array.isArray(filters)) return joined(and, filters as Filter[], scope, env)
  if (typeof filters !== 'object' || filters === null) return always
  const filter = filters as Filter
  if (Array.isArray(filter.values)) return joined(filter.type === 'OR' ? or : and, filter.values as Filter[], scope, env)
  return filter.key === undefined ? always : compileFilter(filter, scope, env)
}

function joined(by: typeof and, filters: readonly Filter[], scope: FilterScope, env: QueryEnv): Expr {
  const parts = filters.map((filter) => compileFilters(filter, scope, env)).filter((part) => part !== always)
  return parts.length ? by(...parts) : always
}

function compileFilter(filter: Filter, scope: FilterScope, env: QueryEnv): Expr {
  const type = filter.type ?? scope
  if (type === 'hogql') return parseExpr(String(filter.key))
  if (type === 'cohort' || type === 'static-cohort') {
    const members = select({
      columns: [field('@person_no')],
      from: table('cohort_people'),
      where: equals(field('cohort_id'), literal(Number(filter.value))),
    })
    const isMember = inQuery(field('@person_no'), members)
    return filter.operator === 'not_in' || filter.negation === true ? not(isMember) : isMember
  }
  return compare(propertyOf(filter, String(type), scope), filter)
}

function propertyOf({ key, group_type_index: index }: Filter, type: string, scope: FilterScope): Expr {
  const name = String(key)
  switch (type) {
    case 'event':
    case 'feature':
      return field('properties', name)
    case 'person':
      return field(...(scope === 'person' ? [] : ['person']), 'properties', name)
    case 'group':
      return field(...(scope === 'group' ? [] : [`group_${Number(index ?? 0)}`]), 'properties', name)
    case 'session':
      return field(...(scope === 'session' ? [] : ['session']), name)
    case 'event_metadata':
      return field(...name.split('.'))
    default:
      throw new QueryError('unsupported-syntax', { what: `property filters of type ${type}` })
  }
}

function compare(property: Expr, { operator, value }: Filter): Expr {
  const values = Array.isArray(value) ? value : [value]
  const constants = values.map((item) => literal(item as string | number | boolean | null))
  switch (operator ?? 'exact') {
    case 'exact':
      if (values.length === 0) return always
      return constants.length === 1 ? equals(property, constants[0]!) : isIn(property, constants)
    case 'is_not':
      if (values.length === 0) return always
      return constants.length === 1 ? call('notEquals', property, constants[0]!) : not(isIn(property, constants))
    case 'is_set':
      return call('isNotNull', property)
    case 'is_not_set':
      return not(call('isNotNull', property))
    case 'icontains':
      return or(...values.map((item) => contains(property, item)))
    case 'not_icontains':
      return and(...values.map((item) => not(contains(property, item))))
    case 'gt':
      return call('greater', property, constants[0]!)
    case 'gte':
      return call('greaterOrEquals', property, constants[0]!)
    case 'lt':
      return call('less', property, constants[0]!)
    case 'lte':
      return call('lessOrEquals', property, constants[0]!)
    default:
      throw new QueryError('unsupported-syntax', { what: `the operator ${String(operator)} in property filters` })
  }
}

const contains = (property: Expr, value: unknown): Expr => call('ilike', call('toString', property), literal(`%${String(value)}%`))

/** Matches the events of an action: one of its steps, with all that the step asks for. */
export function actionCondition(action: Action, env: QueryEnv): Expr {
  return or(
    ...action.steps.map((step) =>
      and(
        step.event == null ? always : equals(field('event'), literal(step.event)),
        step.properties ? compileFilters(step.properties, 'event', env) : always,
      ),
    ),
  )
}

export const testAccountCondition = (env: QueryEnv): Expr => compileFilters(env.project.testAccountFilters, 'event', env)
