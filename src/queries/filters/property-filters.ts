import { noSpan } from '../../errors/span.ts'
import { and, call, equals, field, inQuery, literal, not, or, select, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { fieldsOfEvents, fieldsOfPersons, personRevenue } from '../../language/catalog/computed-fields.ts'
import { once } from '../../language/catalog/expansion.ts'
import { sessionFields } from '../../language/catalog/sessions.ts'
import { isProperty } from '../../language/types/property-values.ts'
import { isNamed, isNumeric, isTime } from '../../language/types/types.ts'
import { own } from '../../lib/own.ts'
import type { Action, ActionStep, QueryContext } from '../kind.ts'
import { isInMadeSession, isWithoutSession } from '../lists/made-sessions.ts'
import { eventExprOf, exprOf, named } from '../origin.ts'
import { attributeIs, hasAttribute, type Matching, selectorMatches, selectorMistake, tagIs } from './elements.ts'
import { operatorCondition, type Read } from './operators.ts'
import { eventProperty, personProperty } from './property-reads.ts'
import { type FilterGroup, type FilterType, incomplete, type PropertyFilter, readFilters, wrongFilter } from './schema.ts'

// From filters and actions to conditions.

export type FilterScope = 'event' | 'person' | 'group' | 'session'

const cohortTypes: ReadonlySet<FilterType> = new Set(['cohort', 'static-cohort', 'precalculated-cohort'])

/** The properties that are allowed in a context. */
const legal: Readonly<Record<FilterScope, ReadonlySet<FilterType> | null>> = {
  event: null,
  person: new Set<FilterType>(['person', 'hogql', ...cohortTypes]),
  group: new Set<FilterType>(['group', 'hogql']),
  session: new Set<FilterType>(['session', 'event', 'person', 'hogql', ...cohortTypes]),
}

/** `true` if no condition remains. */
export function compileFilters(filters: unknown, scope: FilterScope, env: QueryContext, path = 'properties'): Expr {
  return groupCondition(readFilters(filters, path), scope, env)
}

export const testAccountCondition = (env: QueryContext): Expr =>
  compileFilters(env.project.testAccountFilters, 'event', env, 'test_account_filters')

const isTrue = (expr: Expr) => expr.kind === 'literal' && expr.value === true

function groupCondition(group: FilterGroup, scope: FilterScope, env: QueryContext): Expr {
  const parts = group.values
    .filter((item) => item === incomplete || !('values' in item) || item.values.length > 0)
    .map((item) => {
      if (item === incomplete) return literal(true)
      return 'values' in item ? groupCondition(item, scope, env) : filterCondition(item, scope, env)
    })
  if (group.type === 'OR') return parts.length === 0 || parts.some(isTrue) ? literal(true) : or(...parts)
  return and(...parts.filter((part) => !isTrue(part)))
}

function filterCondition(filter: PropertyFilter, scope: FilterScope, env: QueryContext): Expr {
  const { type, key, path } = filter
  if (legal[scope] !== null && !legal[scope]!.has(type))
    throw wrongFilter(path, `A filter of type ${type} cannot be used on a ${scope}.`, 'type')
  if (cohortTypes.has(type)) return cohortCondition(filter, scope, env)
  switch (type) {
    case 'hogql':
      return scope === 'event' ? eventExprOf(key, `${path}__key`, env) : exprOf(key, `${path}__key`, env)
    case 'element':
      return elementCondition(filter)
    case 'person':
      if (key === 'distinct_id') return distinctIdCondition(filter, scope, env)
  }
  if (type === 'session' && scope === 'event' && env.madeSessions && Object.hasOwn(sessionFields, key))
    return ofAnySession(filter, env.madeSessions, env)
  const read = readOf(filter, scope, env)
  // Operators read a value several times, and a computed text is a long expression.
  if (type === 'person' && key !== personRevenue && Object.hasOwn(fieldsOfPersons, key))
    return once(read.expr, '@filtered', (value) => operatorCondition({ ...read, expr: value }, filter, env))
  return operatorCondition(read, filter, env)
}

/** The session that the event names, else the one that is made of it. */
function ofAnySession(filter: PropertyFilter, { events }: NonNullable<QueryContext['madeSessions']>, env: QueryContext): Expr {
  const condition = (scope: FilterScope) => operatorCondition(readOf(filter, scope, env), filter, env)
  return or(
    and(not(isWithoutSession), condition('event')),
    and(isWithoutSession, isInMadeSession(condition('session'), [filter.key], env.sessions ?? {}, events)),
  )
}

const groupIndices = [0, 1, 2, 3, 4]
const columnsOfEvents: ReadonlySet<string> = new Set(
  [
    'event',
    'timestamp',
    'distinct_id',
    'person_id',
    'uuid',
    'created_at',
    'person_mode',
    '$session_id',
    '$window_id',
    'elements_chain',
  ].concat(groupIndices.map((i) => `$group_${i}`)),
)

function readOf(filter: PropertyFilter, scope: FilterScope, env: QueryContext): Read {
  const { type, key, path } = filter
  switch (type) {
    case 'event_metadata': {
      if (!columnsOfEvents.has(key)) throw wrongFilter(path, `Events have no field ${key}.`, 'key')
      const isTime = key === 'timestamp' || key === 'created_at'
      return { expr: key === 'person_id' || key === 'uuid' ? call('toString', field(key)) : field(key), type: isTime ? 'DateTime' : null }
    }
    case 'person':
      return {
        expr: personProperty(key, scope === 'person' ? [] : ['person']),
        type: typeOfPersons(key) ?? (Object.hasOwn(fieldsOfPersons, key) ? null : (env.propertyType('person', key) ?? 'own')),
      }
    case 'group': {
      const index = filter.groupTypeIndex ?? 0
      if (!groupIndices.includes(index)) throw wrongFilter(path, 'The group type index must be a number from 0 to 4.', 'group_type_index')
      const declared = env.propertyType(`group_${index}`, key) ?? 'own'
      if (scope !== 'group') return { expr: field(`group_${index}`, 'properties', key), type: declared }
      if (key === 'created_at' || key === 'updated_at') return { expr: field(key), type: 'DateTime' }
      return { expr: field('properties', key), type: declared }
    }
    case 'session':
      return { expr: named(scope === 'session' ? field(key) : field('session', key), key, `${path}__key`, env), type: sessionType(key) }
    default:
      return key === '$elements_chain'
        ? { expr: field('elements_chain'), type: null }
        : { expr: eventProperty(key), type: typeOfComputed(key) ?? env.propertyType('event', key) ?? 'own' }
  }
}

/** Of computed fields; all but one are texts, which filters compare as they are. */
const typeOfComputed = (key: string): Read['type'] =>
  !Object.hasOwn(fieldsOfEvents, key) ? null : key === '$virt_is_bot' ? 'Boolean' : 'String'

const typeOfPersons = (key: string): Read['type'] => (key === personRevenue ? 'Numeric' : null)

function sessionType(key: string): Read['type'] {
  const type = Object.hasOwn(sessionFields, key) ? sessionFields[key]!.type : null
  if (type === null) return null
  if (isNamed(type, 'Bool')) return 'Boolean'
  return isNumeric(type) ? 'Numeric' : isTime(type) ? 'DateTime' : isProperty(type) ? 'own' : null
}

function distinctIdCondition(filter: PropertyFilter, scope: FilterScope, env: QueryContext): Expr {
  const condition = operatorCondition({ expr: field('distinct_id'), type: null }, filter, env)
  if (scope !== 'person') return condition
  return inQuery(field('id'), select({ columns: [field('person_id')], from: table('person_distinct_ids'), where: condition }))
}

function cohortCondition({ value, operator, negation, path }: PropertyFilter, scope: FilterScope, env: QueryContext): Expr {
  const person = scope === 'person' ? field('id') : field('person_id')
  const ids = (Array.isArray(value) ? value : [value]).map((id) => {
    const cohort = env.cohort(typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : (id as number))
    if (!cohort) throw wrongFilter(path, `There is no cohort ${String(id)}.`, 'value')
    return cohort.id
  })
  const member = or(...ids.map((id): Expr => ({ kind: 'in', expr: person, set: literal(id), not: false, cohort: true, span: noSpan })))
  return negation || operator === 'not_in' || operator === 'is_not' ? not(member) : member
}

const elementAttributes: Readonly<Record<string, string>> = { text: 'text', href: 'href' }

function elementCondition({ key, operator, value, path }: PropertyFilter): Expr {
  const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined && one !== null).map(String)
  if (key === 'selector' || key === 'tag_name') {
    if (!['exact', 'is_not'].includes(operator))
      throw wrongFilter(path, `The ${key} of an element supports the operators exact and is_not only.`, 'operator')
    if (values.length === 0) return literal(true)
    const mistake = key === 'selector' && values.map(selectorMistake).find((one) => one !== null)
    if (mistake) throw wrongFilter(path, mistake, 'value')
    const found = or(...values.map(key === 'selector' ? selectorMatches : tagIs))
    return operator === 'is_not' ? not(found) : found
  }
  const attribute = own(elementAttributes, key)
  if (!attribute) throw wrongFilter(path, `An element has no ${key}. Choose one of selector, tag_name, text, href.`, 'key')
  if (operator === 'is_set') return hasAttribute(attribute)
  if (operator === 'is_not_set') return not(hasAttribute(attribute))
  const matching: Readonly<Record<string, readonly [Matching, boolean]>> = {
    exact: ['exact', false],
    is_not: ['exact', true],
    icontains: ['contains', false],
    not_icontains: ['contains', true],
    regex: ['regex', false],
    not_regex: ['regex', true],
  }
  const how = own(matching, operator)
  if (!how) throw wrongFilter(path, `The ${key} of an element does not support the operator ${operator}.`, 'operator')
  if (values.length === 0) return literal(true)
  const found = or(...values.map((one) => attributeIs(attribute, one, how[0])))
  return how[1] ? not(found) : found
}

/** Does an event belong to the action? Any of its steps must match, with all their parts. An action without steps matches nothing. */
export const actionCondition = (action: Action, env: QueryContext): Expr => or(...action.steps.map((step) => stepCondition(step, env)))

function stepCondition(step: ActionStep, env: QueryContext): Expr {
  const parts: Expr[] = []
  if (step.event) parts.push(equals(field('event'), literal(step.event)))
  if (step.selector) parts.push(selectorMatches(step.selector))
  if (step.tag_name) parts.push(tagIs(step.tag_name))
  if (step.text) parts.push(attributeIs('text', step.text, step.text_matching ?? 'exact'))
  if (step.href) parts.push(attributeIs('href', step.href, step.href_matching ?? 'exact'))
  if (step.url) parts.push(urlCondition(step.url, step.url_matching ?? 'contains'))
  const filters = step.properties?.length ? compileFilters(step.properties, 'event', env, 'steps__properties') : literal(true)
  return and(...parts, ...(isTrue(filters) ? [] : [filters]))
}

function urlCondition(url: string, how: Matching): Expr {
  const address = field('properties', '$current_url')
  if (how === 'exact') return equals(address, literal(url))
  if (how === 'regex') return and(call('isNotNull', address), call('match', address, literal(url)))
  // A star in the user's text is a wildcard, as in saved actions of PostHog.
  return and(call('isNotNull', address), call('like', address, literal(`%${url.replace(/[\\_]/g, '\\$&')}%`)))
}
