import { and, call, isIn, literal, not, or } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { numberText } from '../../language/types/property-values.ts'
import { own } from '../../lib/own.ts'
import { calendarOf } from '../../lib/time/calendar.ts'
import { zoneOf } from '../../lib/time/zone.ts'
import type { PropertyType, QueryContext } from '../kind.ts'
import { patterned } from '../origin.ts'
import { dateInstant, isoInstant, micros } from '../time/dates.ts'
import { cleanedPath } from './path-cleaning.ts'
import { noChoice, type PropertyFilter, wrongFilter } from './schema.ts'
import { semverCondition, semverOperators } from './semver.ts'

// The condition of each operator. Note: a missing property is null, null never equals a value, so negated
// operators match it and all others do not.

/** The left side of a filter. Its type is the declared one of a property, or that of a column; `own`: each value has its own type; null: a text. */
export interface Read {
  readonly expr: Expr
  readonly type: PropertyType | 'own' | null
}

type One = string | number | boolean
type Condition = (read: Read, value: One, filter: PropertyFilter, env: QueryContext) => Expr

const always = literal(true)

/** The type in which a filter's value is compared. */
function constant(value: One, type: Read['type']): Expr {
  if (type === 'own') return literal(value)
  if (type === 'Numeric') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return literal(typeof number === 'number' && Number.isFinite(number) ? number : String(value))
  }
  if (type === 'Boolean') {
    if (typeof value === 'string' && /^(true|false)$/i.test(value)) return literal(value.toLowerCase() === 'true')
    return literal(value)
  }
  if (type === 'DateTime') return call('toDateTime', literal(String(value)))
  return literal(String(value))
}

/** A typed value against a text of another type: compared as texts. */
function comparable(read: Read, value: One): readonly [Expr, Expr] {
  const right = constant(value, read.type)
  const isOdd = right.kind === 'literal' && right.type === 'string' && (read.type === 'Numeric' || read.type === 'Boolean')
  return isOdd ? [call('toString', read.expr), right] : [read.expr, right]
}

const text = ({ expr, type }: Read): Expr => (type === null || type === 'own' || type === 'String' ? expr : call('toString', expr))
/** Clients also send numbers as texts. */
const isNumber = (value: One): boolean => new RegExp(`^(?:${numberText})$`).test(String(value))
const compare =
  (name: string): Condition =>
  (read, value) => {
    const given = read.type === 'own' ? (isNumber(value) ? Number(value) : String(value)) : value
    const [left, right] = comparable(read, given)
    return and(call('isNotNull', read.expr), call(name, left, right))
  }
/** The value anywhere in the text; `%`, `_` and `\` are literal. */
const pattern = (value: One) => literal(`%${String(value).replace(/[\\%_]/g, '\\$&')}%`)
const contains: Condition = (read, value) => and(call('isNotNull', read.expr), call('ilike', text(read), pattern(value)))
const matches: Condition = (read, value, { path }, env) => {
  const pattern = patterned(literal(String(value)), String(value), `${path}__value`, env)
  return and(call('isNotNull', read.expr), call('match', text(read), pattern))
}
const equals: Condition = (read, value) => {
  const [left, right] = comparable(read, value)
  return and(call('isNotNull', read.expr), call('equals', left, right))
}
const orMissing = (read: Read, condition: Expr): Expr => or(call('isNull', read.expr), condition)
const negated =
  (condition: Condition): Condition =>
  (read, value, filter, env) =>
    orMissing(read, not(condition(read, value, filter, env)))

const date =
  (name: string): Condition =>
  (read, value, filter, env) => {
    const calendar = calendarOf(env.project)
    const at = dateInstant(String(value), micros(env.now), calendar)
    if (at === null) throw wrongFilter(filter.path, `${JSON.stringify(value)} is not a date.`, 'value')
    const left = read.type === 'DateTime' ? read.expr : call('toDateTime', text(read))
    return and(call('isNotNull', left), call(name, left, call('toDateTime', literal(isoInstant(at, zoneOf('UTC'))))))
  }

const semver = Object.fromEntries(
  semverOperators.map((operator): [string, Condition] => [
    operator,
    (read, value, filter) => {
      const condition = semverCondition(text(read), operator, String(value))
      if (!condition) throw wrongFilter(filter.path, `${JSON.stringify(value)} is not a version such as 1.2.3.`, 'value')
      return and(call('isNotNull', read.expr), condition)
    },
  ]),
)

/** Operators with one value. Several values: any of them, or all of them for negated operators. */
const conditions: Readonly<Record<string, Condition>> = {
  exact: equals,
  is_not: negated(equals),
  icontains: contains,
  icontains_multi: contains,
  not_icontains: negated(contains),
  not_icontains_multi: negated(contains),
  regex: matches,
  not_regex: negated(matches),
  gt: compare('greater'),
  gte: compare('greaterOrEquals'),
  min: compare('greaterOrEquals'),
  lt: compare('less'),
  lte: compare('lessOrEquals'),
  max: compare('lessOrEquals'),
  is_date_exact: date('equals'),
  is_date_before: date('less'),
  is_date_after: date('greater'),
  is_cleaned_path_exact: (read, value, _, env) =>
    and(call('isNotNull', read.expr), call('equals', cleanedPath(text(read), env), cleanedPath(literal(String(value)), env))),
  ...semver,
}
const wantsAll: ReadonlySet<string> = new Set(['is_not', 'not_in', 'not_icontains', 'not_icontains_multi', 'not_regex'])
/** Operators that are defined for an empty list: nothing contains any of nothing. */
const keepsEmptyList: ReadonlySet<string> = new Set([
  'between',
  'not_between',
  'icontains',
  'icontains_multi',
  'not_icontains',
  'not_icontains_multi',
])

export function operatorCondition(read: Read, filter: PropertyFilter, env: QueryContext): Expr {
  const { operator, value, path } = filter
  switch (operator) {
    case 'is_set':
      return call('isNotNull', read.expr)
    case 'is_not_set':
      return call('isNull', read.expr)
    case 'between':
    case 'not_between':
      return between(read, filter)
    case 'in':
    case 'not_in':
      if (!Array.isArray(value)) throw wrongFilter(path, `The operator ${operator} needs a list.`, 'value')
      return listed(read, scalars(value, filter), operator === 'not_in')
  }
  const condition = own(conditions, operator)
  if (!condition) throw noChoice(path, 'operator', operator, operatorNames)
  if (!Array.isArray(value)) {
    const [one] = value === undefined || value === null ? [] : scalars([value], filter)
    return one === undefined ? always : condition(read, one, filter, env)
  }
  const values = scalars(value, filter)
  if (values.length === 0 && !keepsEmptyList.has(operator)) return always
  if (values.length === 1) return condition(read, values[0]!, filter, env)
  if (operator === 'exact' || operator === 'is_not') return listed(read, values, operator === 'is_not')
  const parts = values.map((one) => condition(read, one, filter, env))
  return wantsAll.has(operator) ? and(...parts) : or(...parts)
}

const operatorNames: readonly string[] = [...Object.keys(conditions), 'between', 'not_between', 'in', 'not_in', 'is_set', 'is_not_set']

const isScalar = (value: unknown): value is One => ['string', 'number', 'boolean'].includes(typeof value)

function scalars(values: readonly unknown[], filter: PropertyFilter): readonly One[] {
  return values.map((value) => {
    if (isScalar(value)) return value
    throw wrongFilter(filter.path, `${JSON.stringify(value)} cannot be compared with a property.`, 'value')
  })
}

function listed(read: Read, values: readonly One[], isNegated: boolean): Expr {
  if (values.length === 0) return literal(isNegated)
  const pairs = values.map((value) => comparable(read, value))
  const isPlain = pairs.every(([left]) => left === read.expr)
  const found = isPlain
    ? isIn(
        read.expr,
        pairs.map(([, right]) => right),
      )
    : or(...pairs.map(([left, right]) => call('equals', left, right)))
  return isNegated ? orMissing(read, not(found)) : and(call('isNotNull', read.expr), found)
}

function between(read: Read, filter: PropertyFilter): Expr {
  const value = filter.value
  const ends = Array.isArray(value) && value.length === 2 ? value.map((end) => (end === '' || end === null ? Number.NaN : Number(end))) : []
  const [low, high] = ends
  if (low === undefined || high === undefined || !Number.isFinite(low) || !Number.isFinite(high))
    throw wrongFilter(filter.path, `The operator ${filter.operator} needs a list of two numbers.`, 'value')
  if (low > high) throw wrongFilter(filter.path, `The first number of ${filter.operator} must not be larger than the second.`, 'value')
  const number = read.type === 'Numeric' ? read.expr : call('toFloat', text(read))
  const isInside = and(call('greaterOrEquals', number, literal(low)), call('lessOrEquals', number, literal(high)))
  return and(call('isNotNull', number), filter.operator === 'between' ? isInside : not(isInside))
}
