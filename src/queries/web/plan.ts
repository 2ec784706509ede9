import { alias, and, call, equals, field, from, isIn, limit, literal, or, select, table } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { sessionFields as sessionFieldTypes, sessionsQuery } from '../../language/catalog/sessions.ts'
import { isObject } from '../../lib/is-object.ts'
import type { Interval } from '../../lib/time/calendar.ts'
import { compileFilters } from '../filters/property-filters.ts'
import { along, type QueryContext, type QueryRun } from '../kind.ts'
import { isWithoutSession, madeMeasures, nearRange } from '../lists/made-sessions.ts'
import { eventsTable, instant, person, since, until } from '../scope.ts'
import { goalCondition } from '../series/conversion-goal.ts'
import { allOf, queryFilters } from '../series/series-condition.ts'
import { type Period, periodRanges, type ShownRanges, shownRanges } from '../time/comparison.ts'
import type { ResolvedRange } from '../time/dates.ts'
import { listedLook } from './listed-look.ts'
import type { WebStatsTableQuery } from './schema.ts'

// What web analytics counts: sessions that began in the period, by those of their events that are views of pages, or conversions, and pass the filters.

export interface WebPlan {
  readonly current: ResolvedRange
  readonly previous: ResolvedRange | null
  /** The range of all periods; events outside count for nothing. */
  readonly inPeriods: Expr
  /** Conditions on events, regardless of time and name. */
  readonly filters: Expr
  readonly sessions: SessionFilters
  readonly goal: Expr | null
  readonly sample: number | null
  /** Some of the events that count name no session. */
  readonly hasMade: boolean
}

export const isNamed = (...names: readonly string[]): Expr =>
  names.length === 1 ? equals(field('event'), literal(names[0]!)) : isIn(field('event'), names.map(literal))
export const isPage = isNamed('$pageview', '$screen')

type Asked = Pick<
  WebStatsTableQuery,
  'dateRange' | 'interval' | 'properties' | 'filterTestAccounts' | 'sampling' | 'samplingFactor' | 'compareFilter' | 'conversionGoal'
>

/** Without buckets, a week or a month begins where the range does. */
const roundingOf = ({ interval }: Asked): Interval =>
  interval === 'hour' || interval === 'minute' || interval === 'second' ? interval : 'day'

/** `namesIn`: those of the events that count. Null: sessions do not matter. */
export function* planWeb(query: Asked, env: QueryContext, namesIn: ((context: QueryContext) => Expr) | null): QueryRun<WebPlan> {
  const ranges = yield* periodRanges(query, roundingOf(query), env)
  const goalIn = (context: QueryContext) => (query.conversionGoal ? goalCondition(query.conversionGoal, context) : null)
  const inPeriods = or(...ranges.map(({ range }) => and(since(range.firstEvent), until(range.to))))
  const periods = { current: ranges[0]!.range, previous: ranges[1]?.range ?? null }
  const making = contextOf({ ...periods, hasMade: true }, env)
  const names = namesIn && countedNames({ goal: goalIn(making) }, namesIn(making))
  const times = { ...periods, hasMade: names !== null && (yield* hasEventsWithoutSession(names, inPeriods, periods, env)) }
  const context = contextOf(times, env)
  return {
    ...times,
    inPeriods,
    filters: eventFilters(query, context),
    sessions: sessionFilters(query, env),
    goal: goalIn(context),
    sample: sampleOf(query),
  }
}

/** For conditions on events: their filters on sessions, and those of actions and test accounts, are about made sessions too. */
export const contextOf = (plan: Pick<WebPlan, 'current' | 'previous' | 'hasMade'>, env: QueryContext): QueryContext =>
  plan.hasMade ? { ...env, madeSessions: { events: nearEvents(plan) } } : env

/** Asked before, so that a site whose events all name one pays for a look at their ids only. */
const hasEventsWithoutSession = (
  names: Expr,
  inPeriods: Expr,
  { current, previous }: Pick<WebPlan, 'current' | 'previous'>,
  env: QueryContext,
): QueryRun<boolean> =>
  along<boolean>({
    label: 'events without a session',
    lists: () => listedLook(and(names, isWithoutSession), previous ? [current, previous] : [current], env),
    statement: () => ({
      query: select({
        columns: [alias(literal(1), 'found')],
        from: table('events'),
        where: and(inPeriods, names, isWithoutSession),
        limit: limit(1),
      }),
      read: (answer) => answer.numRows > 0,
    }),
  })

/** Conditions on whole sessions, and the fields that they read. */
interface SessionFilters {
  readonly condition: Expr
  readonly fields: readonly string[]
}

/** A filter of the list that the session alone decides. Sessions are at hand, while events would have to be joined with all sessions of the project. */
const isOfSession = (item: unknown): item is { readonly key: string } =>
  isObject(item) && item.type === 'session' && typeof item.key === 'string' && Object.hasOwn(sessionFieldTypes, item.key)

/** An empty filter holds. It keeps the places of the others, for errors. */
const listed = (properties: unknown, isKept: (item: unknown) => boolean): unknown =>
  Array.isArray(properties) ? properties.map((item: unknown) => (isKept(item) ? item : {})) : properties

export const eventFilters = (query: Pick<Asked, 'properties' | 'filterTestAccounts'>, env: QueryContext): Expr =>
  queryFilters({ ...query, properties: listed(query.properties, (item) => !isOfSession(item)) }, env)

function sessionFilters({ properties }: Pick<Asked, 'properties'>, env: QueryContext): SessionFilters {
  const own = Array.isArray(properties) ? properties.filter(isOfSession) : []
  if (own.length === 0) return { condition: literal(true), fields: [] }
  return { condition: compileFilters(listed(properties, isOfSession), 'session', env), fields: own.map(({ key }) => key) }
}

function sampleOf({ sampling, samplingFactor }: Asked): number | null {
  const rate = sampling?.enabled === false ? null : sampling?.forceSamplingRate
  return rate ? rate.numerator / (rate.denominator ?? 1) : (samplingFactor ?? null)
}

export const samplingRate = ({ sample }: WebPlan) => ({ numerator: sample ?? 1 })

export const rangesOf = ({ current, previous }: WebPlan): ShownRanges =>
  shownRanges([current, previous].flatMap((range) => (range ? [{ range }] : [])))

/** Events that make their session count. */
export const countedEvents = (plan: WebPlan, names: Expr = isPage): Expr => allOf(plan.inPeriods, plan.filters, countedNames(plan, names))
export const countedNames = ({ goal }: Pick<WebPlan, 'goal'>, names: Expr): Expr => (goal ? or(names, goal) : names)

/** One row per session that may be asked for, with further aggregates over its events. */
export function sessionsOf(plan: WebPlan, fields: readonly string[], env: QueryContext, also: Readonly<Record<string, Expr>> = {}): Query {
  const { sample, sessions, hasMade } = plan
  const read = [...new Set([...fields, ...sessions.fields])]
  const [source, events] = [eventsTable(sample), nearEvents(plan)]
  const made = hasMade ? madeMeasures(source, events) : null
  const all = sessionsQuery(read, env.sessions ?? {}, { also, events, from: source, made })
  if (sessions.fields.length === 0) return all
  return select({
    columns: [...fields, ...Object.keys(also)].map((name) => field(name)),
    from: from(all, 'web_all_sessions'),
    where: sessions.condition,
  })
}

/** Events that may belong to a session of the periods. */
export const nearEvents = ({ current, previous }: Pick<WebPlan, 'current' | 'previous'>): Expr =>
  or(...[current, previous].flatMap((range) => (range ? [nearRange(range)] : [])))

/** Whose session it is: of several persons, the one who was created first. */
export const personOf = (counted: Expr): Expr => call('minIf', person, counted)

const isWithin = (started: Expr, { firstEvent, to }: ResolvedRange): Expr =>
  and(call('greaterOrEquals', started, instant(firstEvent)), call('lessOrEquals', started, instant(to)))

/** Did the session begin in the period? Null: the query has no such period. */
export const beganIn = (plan: WebPlan, period: Period, started: Expr = field('$start_timestamp')): Expr | null => {
  const range = plan[period]
  return range && isWithin(started, range)
}

export type Aggregate = 'visitors' | 'sum' | 'avg' | 'count'
const functions: Readonly<Record<Aggregate, string>> = { visitors: 'uniqExactIf', sum: 'sumIf', avg: 'avgIf', count: 'countIf' }

/** Columns `name` and `previous_name`: an aggregate over the sessions of a period. */
export function inPeriods(plan: WebPlan, name: string, how: Aggregate, value: Expr | null = null): Expr[] {
  const over = (period: Period): Expr => {
    const began = beganIn(plan, period)
    if (!began) return literal(null)
    return call(functions[how], ...(value ? [value] : []), began)
  }
  return [alias(over('current'), name), alias(over('previous'), `previous_${name}`)]
}

/** 1, 0, or null for a session without a page. */
export const bounced: Expr = call(
  'multiIf',
  call('isNull', field('$is_bounce')),
  literal(null),
  field('$is_bounce'),
  literal(1),
  literal(0),
)
