import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import { noSpan } from '../../errors/span.ts'
import { readAs } from '../../errors/validation.ts'
import {
  alias,
  and,
  call,
  callWith,
  equals,
  field,
  from,
  groupBy,
  inQuery,
  literal,
  not,
  or,
  order,
  select,
  table,
} from '../../language/ast/build.ts'
import type { Expr, FrameBound, Query } from '../../language/ast/nodes.ts'
import { own } from '../../lib/own.ts'
import { add, calendarOf, firstMoment, type Interval, lastMoment } from '../../lib/time/calendar.ts'
import { type Micros, zoneOf } from '../../lib/time/zone.ts'
import { fields } from '../fields.ts'
import type { QueryContext } from '../kind.ts'
import { memberOf } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import { dateInstant, isoInstant, micros, movedBack } from '../time/dates.ts'
import { actionCondition, compileFilters } from './property-filters.ts'

// A dynamic cohort is a condition on persons: their properties, what they did, other cohorts, combined by AND, OR and NOT to any depth.

const unit = z.enum(['minute', 'hour', 'day', 'week', 'month', 'year'])
const count = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)])

export const behaviours = [
  'performed_event',
  'performed_event_multiple',
  'performed_event_first_time',
  'performed_event_regularly',
  'performed_event_sequence',
  'stopped_performing_event',
  'restarted_performing_event',
] as const

const behaviouralSchema = fields(
  {
    type: z.literal('behavioral'),
    key: z.union([z.string(), z.number()]),
    event_type: z.enum(['events', 'actions']).nullish(),
    value: z.enum(behaviours),
    negation: z.boolean().nullish(),
    time_value: count.nullish(),
    time_interval: unit.nullish(),
    explicit_datetime: z.string().nullish(),
    explicit_datetime_to: z.string().nullish(),
    operator: z.string().nullish(),
    operator_value: count.nullish(),
    event_filters: z.array(z.unknown()).nullish(),
    min_periods: count.nullish(),
    total_periods: count.nullish(),
    seq_event: z.union([z.string(), z.number()]).nullish(),
    seq_event_type: z.enum(['events', 'actions']).nullish(),
    seq_time_value: count.nullish(),
    seq_time_interval: unit.nullish(),
  },
  'condition',
)
type Behaviour = z.infer<typeof behaviouralSchema>

export interface ConditionGroup {
  readonly type: 'AND' | 'OR' | 'NOT'
  readonly values: readonly Condition[]
  readonly negation?: boolean | null
}
export type Condition = ConditionGroup | Behaviour | { readonly type: string; readonly [key: string]: unknown }

const groupSchema: z.ZodType<ConditionGroup> = z.lazy(() =>
  fields({ type: z.enum(['AND', 'OR', 'NOT']), values: z.array(conditionSchema), negation: z.boolean().nullish() }, 'condition'),
) as z.ZodType<ConditionGroup>

const conditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.looseObject({ type: z.string() }).transform((value, context): Condition => {
    const schema = isGroup(value)
      ? groupSchema
      : value.type === 'behavioral'
        ? behaviouralSchema
        : z.looseObject({ type: z.string(), key: z.unknown() })
    const read = readAs<unknown>(schema, value)
    if ('data' in read) return read.data as Condition
    const { path, message } = read.misfit
    context.addIssue({ code: 'custom', message, path: [...path] })
    return z.NEVER
  }),
) as z.ZodType<Condition>

export const isGroup = (value: object): value is ConditionGroup => 'values' in value && Array.isArray(value.values)

export const cohortFiltersSchema = fields({ properties: groupSchema }, 'range')
export type CohortFilters = z.infer<typeof cohortFiltersSchema>

/** Can membership change just because time passes? */
export function isTimeBound(condition: Condition): boolean {
  if (isGroup(condition)) return condition.values.some(isTimeBound)
  return condition.type === 'behavioral' || JSON.stringify(condition).includes('"is_date_')
}

/** The cohorts that the condition refers to. */
export function cohortsNamed(condition: Condition): number[] {
  if (isGroup(condition)) return condition.values.flatMap(cohortsNamed)
  return isCohort(condition) ? [Number((condition as { value?: unknown }).value)] : []
}
const isCohort = ({ type }: { readonly type: string }): boolean =>
  type === 'cohort' || type === 'static-cohort' || type === 'precalculated-cohort'

const person = field('@person_no')

/** A project, and the persons that a statement needs; null: all. */
interface Scope extends QueryContext {
  readonly among: Expr | null
}

/** One row per member: the person's number. With `among`, only members of that cohort too. */
export function cohortMembers(filters: CohortFilters, env: QueryContext, among: number | null = null): Query {
  const scope: Scope = { ...env, among: among === null ? null : memberOf(among) }
  const where = allOf(scope.among ?? literal(true), conditionOf(filters.properties, scope, 'filters__properties'))
  return select({ columns: [alias(person, 'person')], from: table('persons'), where })
}

/** `path` is the path of the condition in the request, for messages: `filters__properties__values__0`. */
function conditionOf(condition: Condition, env: Scope, path: string): Expr {
  if (isGroup(condition)) {
    const parts = condition.values.map((value, i) => conditionOf(value, env, `${path}__values__${i}`))
    const joined = condition.type === 'OR' ? or(...parts) : and(...parts)
    return (condition.type === 'NOT') !== (condition.negation === true) ? not(joined) : joined
  }
  const { negation, ...plain } = condition as { negation?: boolean | null; type: string }
  const expr = condition.type === 'behavioral' ? behaviourOf(condition as Behaviour, env, path) : compileFilters(plain, 'person', env, path)
  return negation ? not(expr) : expr
}

const someone = (who: Query): Expr => inQuery(person, who)
const at = (instant: Micros): Expr => literal(isoInstant(instant, zoneOf('UTC')))

interface Window {
  readonly from: Micros | null
  readonly to: Micros
}

function windowOf(behaviour: Behaviour, env: QueryContext, path: string): Window {
  const now = micros(env.now)
  const calendar = calendarOf(env.project)
  const instant = (text: string, name: string): Micros => {
    const found = dateInstant(text, now, calendar)
    if (found === null)
      throw new QueryError('validation-failed', { message: `${JSON.stringify(text)} is not a date.`, attr: `${path}__${name}` })
    return found
  }
  const to = behaviour.explicit_datetime_to ? instant(behaviour.explicit_datetime_to, 'explicit_datetime_to') : now
  if (behaviour.explicit_datetime) return { from: instant(behaviour.explicit_datetime, 'explicit_datetime'), to }
  return { from: before(now, behaviour.time_value, behaviour.time_interval, env), to }
}

/** Longer ago than events can be: all of them. */
function before(
  instant: Micros,
  value: number | null | undefined,
  interval: Interval | null | undefined,
  env: QueryContext,
): Micros | null {
  return value == null || interval == null ? null : (movedBack(value, interval, instant, calendarOf(env.project)) ?? firstMoment)
}

const inWindow = ({ from: start, to }: Window): Expr =>
  allOf(
    start === null ? literal(true) : call('greaterOrEquals', field('timestamp'), at(start)),
    call('lessOrEquals', field('timestamp'), at(to)),
  )

function matchOf(key: string | number, type: string | null | undefined, env: QueryContext): Expr {
  if (type !== 'actions') return equals(field('event'), literal(String(key)))
  const action = env.action(Number(key))
  return action ? actionCondition(action, env) : literal(false)
}

const comparisons: Readonly<Record<string, string>> = {
  gte: 'greaterOrEquals',
  gt: 'greater',
  lte: 'lessOrEquals',
  lt: 'less',
  eq: 'equals',
  exact: 'equals',
  '': 'greaterOrEquals',
}

const doersOf =
  ({ among }: Scope) =>
  (where: Expr, having: Expr | null = null): Query =>
    select({
      columns: [alias(person, 'person')],
      from: table('events'),
      where: among ? allOf(where, among) : where,
      groupBy: groupBy(person),
      having,
    })

function behaviourOf(behaviour: Behaviour, env: Scope, path: string): Expr {
  const doers = doersOf(env)
  const filters = behaviour.event_filters?.length
    ? compileFilters(behaviour.event_filters, 'event', env, `${path}__event_filters`)
    : literal(true)
  const match = allOf(matchOf(behaviour.key, behaviour.event_type, env), filters)
  const window = windowOf(behaviour, env, path)
  switch (behaviour.value) {
    case 'performed_event':
      return someone(doers(allOf(match, inWindow(window))))
    case 'performed_event_multiple': {
      const compare = own(comparisons, behaviour.operator ?? '') ?? 'greaterOrEquals'
      return someone(doers(allOf(match, inWindow(window)), call(compare, call('count'), literal(behaviour.operator_value ?? 1))))
    }
    case 'performed_event_first_time':
      return someone(doers(match, window.from === null ? null : call('greaterOrEquals', call('min', field('timestamp')), at(window.from))))
    case 'performed_event_regularly':
      return regularly(behaviour, match, env)
    case 'performed_event_sequence':
      return sequence(behaviour, match, window, env)
    case 'stopped_performing_event':
    case 'restarted_performing_event': {
      const recent = before(window.to, behaviour.seq_time_value, behaviour.seq_time_interval, env) ?? window.to
      const early = someone(doers(allOf(match, inWindow({ from: window.from, to: recent - 1 }))))
      const late = someone(doers(allOf(match, inWindow({ from: recent, to: window.to }))))
      if (behaviour.value === 'stopped_performing_event') return and(early, not(late))
      // Once before the window, not in its middle part, again at its end.
      const once = window.from === null ? literal(false) : someone(doers(allOf(match, inWindow({ from: null, to: window.from - 1 }))))
      return and(once, not(early), late)
    }
  }
}

/** Often enough in enough of the last periods. */
function regularly(behaviour: Behaviour, match: Expr, env: Scope): Expr {
  const doers = doersOf(env)
  const now = micros(env.now)
  const total = behaviour.total_periods ?? 1
  const inPeriod = (i: number): Expr => {
    const edge = (periods: number) => before(now, (behaviour.time_value ?? 1) * periods, behaviour.time_interval ?? 'day', env)!
    const isInside = and(call('greater', field('timestamp'), at(edge(i + 1))), call('lessOrEquals', field('timestamp'), at(edge(i))))
    const compare = own(comparisons, behaviour.operator ?? '') ?? 'greaterOrEquals'
    return call('if', call(compare, call('countIf', isInside), literal(behaviour.operator_value ?? 1)), literal(1), literal(0))
  }
  const periods = Array.from({ length: total }, (_, i) => inPeriod(i))
  const sum = periods.reduce((a, b) => call('plus', a, b))
  return someone(doers(allOf(match, inWindow({ from: null, to: now })), call('greaterOrEquals', sum, literal(behaviour.min_periods ?? 1))))
}

const bound = (type: FrameBound['type'], offset: number | null = null): FrameBound => ({
  kind: 'frameBound',
  type,
  offset: offset === null ? null : literal(offset),
  span: noSpan,
})

/** A second event within a time after the first one: for each event, the time of the latest first event before it. */
function sequence(behaviour: Behaviour, match: Expr, window: Window, env: Scope): Expr {
  const next = matchOf(behaviour.seq_event ?? '', behaviour.seq_event_type, env)
  const asked = add(behaviour.seq_time_interval ?? 'day', behaviour.seq_time_value ?? 1, 0, { zone: zoneOf('UTC'), weekStartDay: 0 })
  // Not longer than events can be apart.
  const within = asked < lastMoment ? asked : lastMoment
  const time = field('@micros')
  const rows = select({
    columns: [
      alias(person, 'person'),
      alias(time, 'happened'),
      alias(call('if', next, literal(1), literal(0)), 'is_next'),
      alias(
        callWith('max', {
          args: [call('if', match, time, literal(null))],
          over: {
            kind: 'window',
            partitionBy: [person],
            orderBy: [order(time), order(field('@log_seq'))],
            frame: { unit: 'rows', start: bound('unbounded preceding'), end: bound('preceding', 1) },
            span: noSpan,
          },
        }),
        'first_one',
      ),
    ],
    from: table('events'),
    where: allOf(or(match, next), inWindow(window), env.among ?? literal(true)),
  })
  const isInTime = and(
    equals(field('is_next'), literal(1)),
    call('isNotNull', field('first_one')),
    call('lessOrEquals', call('minus', field('happened'), field('first_one')), literal(within)),
  )
  return someone(
    select({ columns: [alias(field('person'), 'person')], from: from(rows, 'steps'), where: isInTime, groupBy: groupBy(field('person')) }),
  )
}
