import { z } from 'zod'
import { alias, and, call, equals, field, from, groupBy, literal, not, or, select, table } from '../../ast/build.ts'
import type { Expr, Query } from '../../ast/nodes.ts'
import { QueryError } from '../../errors/errors.ts'
import { calendarOf, endOf, startOf } from '../../lib/calendar.ts'
import type { Micros } from '../../lib/zone.ts'
import { type ActorList, type ActorOptions, type Asking, type Choice, defineActorSource } from '../actor-source.ts'
import { type Breakdown, isBrokenDown } from '../breakdown.ts'
import { nullLabel, nullValue, otherLabel, otherValue } from '../breakdown-values.ts'
import { bucketEdges, bucketLabel } from '../buckets.ts'
import { instantOf, isoInstant, micros, parseDate } from '../dates.ts'
import { fields } from '../fields.ts'
import type { QueryContext } from '../kind.ts'
import { everyQuery } from '../schemas.ts'
import { eventsTable, memberOf, since, until } from '../scope.ts'
import { firstTimeMaths, rollingMaths } from '../series.ts'
import { allOf, nodeName } from '../series-condition.ts'
import { fineInterval, isPlainUnique, type RollingMath, totalWindow, windowOf } from './active-users.ts'
import { partEquals, trendsBreakdown } from './breakdown.ts'
import { firstEvents, ignoresFiltersWhenLooking, isFirstInRange } from './first-time.ts'
import { partColumn } from './groups.ts'
import { isInCell } from './heatmap.ts'
import { answerUnits, rangesOf, unitsOf } from './index.ts'
import { contextOf } from './plan.ts'
import type { PlanContext } from './plan-context.ts'
import { limitGroups } from './ranking.ts'
import { displayOf, isCumulative, isTotal, type TrendsQuery, trendsSchema } from './schema.ts'
import { actorOf, type Period, timeFilter, type Unit } from './unit.ts'

const value = z.union([z.string(), z.number()])

export const trendsPointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('InsightActorsQuery'),
    source: trendsSchema,
    day: value.nullish(),
    series: z.number().int().min(0).nullish(),
    breakdown: z.union([value, z.array(value)]).nullish(),
    compare: z.enum(['current', 'previous']).nullish(),
    /** Of a calendar heat map: the day of the week, Monday is 1, and the hour. */
    row: z.number().int().min(1).max(7).nullish(),
    column: z.number().int().min(0).max(23).nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
)
export type TrendsPoint = z.infer<typeof trendsPointSchema>

export const trendsActors = defineActorSource<TrendsPoint>({
  wrapper: 'InsightActorsQuery',
  kind: 'TrendsQuery',
  schema: trendsPointSchema,
  actors: actorsBehind,
  options: optionsOf,
})

function* actorsBehind(point: TrendsPoint, env: QueryContext): Asking<ActorList> {
  const query = point.source
  const order = point.series ?? 0
  if (order >= query.series.length)
    throw new QueryError('validation-failed', {
      message: `The query has ${query.series.length} series, counted from 0.`,
      attr: 'source__series',
    })
  const breakdown = trendsBreakdown(query)
  const ranges = yield* rangesOf(query, env)
  const period: Period = query.compareFilter?.compare ? (point.compare ?? 'current') : 'current'
  const units = unitsOf(query, env, { ...breakdown, cohorts: [] }, ranges)
  const unit = units.find((u) => u.order === order && u.period === period)
  if (!unit) return { query: nobody, group: null, columns: ['event_count'] }

  const cell = (['row', 'column'] as const).find((name) => point[name] != null)
  if (cell && displayOf(query) !== 'CalendarHeatmap')
    throw new QueryError('validation-failed', { message: 'Only a calendar heat map has rows and columns.', attr: `source__${cell}` })
  const isOf = allOf(yield* valueCondition(point.breakdown, unit, query, env, breakdown), isInCell(point, query, unit))
  const context = contextOf(unit, query, env, { ...breakdown, parts: [] }, [])
  const bucket = isTotal(query) || point.day == null ? null : bucketAt(point.day, unit, env)
  const { group } = actorOf(unit)
  return {
    query: isFirstTime(unit) ? firstActors(context, bucket, isOf) : actorsIn(context, bucket, isOf),
    group,
    columns: ['event_count'],
  }
}

const among = (names: readonly string[], math: string | null | undefined): boolean => names.includes(math ?? 'total')
const isFirstTime = (unit: Unit): boolean => among(firstTimeMaths, unit.node.math)

const nobody: Query = select({
  columns: [alias(field('@person_no'), 'actor'), alias(call('count'), 'event_count')],
  from: table('events'),
  where: literal(false),
  groupBy: groupBy(field('actor')),
})

interface Bucket {
  readonly start: Micros
  /** The first instant after it. */
  readonly end: Micros
}

function bucketAt(day: string | number, { range }: Unit, env: QueryContext): Bucket {
  const calendar = calendarOf(env.project)
  const parsed = typeof day === 'string' ? parseDate(day, calendar.zone) : null
  if (!parsed)
    throw new QueryError('validation-failed', { message: `${JSON.stringify(day)} is not a day of the chart.`, attr: 'source__day' })
  const instant = instantOf(parsed, micros(env.now), calendar)
  return { start: startOf(range.interval, instant, calendar), end: endOf(range.interval, instant, calendar) }
}

/** The events counted at the bucket. Running totals count all up to its end. */
function timeOf({ unit, query }: PlanContext, bucket: Bucket | null): Expr {
  const { range, node } = unit
  if (among(rollingMaths, node.math)) {
    const math = node.math as RollingMath
    if (isTotal(query)) return totalWindow(unit, math)
    if (bucket && !isPlainUnique(math, range.interval)) {
      const fine = fineInterval(range.interval)
      const [after, last] = windowOf(math, bucket.start, unit)
      return and(since(endOf(fine, after, range.calendar)), until(Math.min(endOf(fine, last, range.calendar) - 1, range.to)))
    }
  }
  if (!bucket) return timeFilter(unit)
  const first = isCumulative(query) ? range.firstEvent : Math.max(bucket.start, range.firstEvent)
  return and(since(first), until(Math.min(bucket.end - 1, range.to)))
}

function actorsIn(context: PlanContext, bucket: Bucket | null, isOf: Expr): Query {
  const actor = actorOf(context.unit)
  return select({
    columns: [alias(actor.expr, 'actor'), alias(call('count'), 'event_count')],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(timeOf(context, bucket), context.events, actor.condition, isOf),
    groupBy: groupBy(field('actor')),
  })
}

/** The value of the breakdown is that of the first event only. */
function firstActors(context: PlanContext, bucket: Bucket | null, isOf: Expr): Query {
  const { unit, filters } = context
  const marked = { ...context, parts: [call('if', isOf, literal('1'), literal('0'))] }
  const inner = ignoresFiltersWhenLooking(unit.node.math)
    ? firstEvents(marked, filters, literal(true))
    : firstEvents(marked, literal(true), filters)
  const inBucket = bucket
    ? allOf(
        isCumulative(context.query) ? literal(true) : call('greaterOrEquals', field('first_at'), literal(bucket.start)),
        call('less', field('first_at'), literal(bucket.end)),
      )
    : literal(true)
  return select({
    columns: [field('actor'), alias(literal(1), 'event_count')],
    from: from(inner, 'firsts'),
    where: allOf(isFirstInRange(context), inBucket, equals(field(partColumn(0)), literal('1'))),
  })
}

/** The events with the point's value. Other includes all values without a row of their own. */
function* valueCondition(
  asked: TrendsPoint['breakdown'],
  unit: Unit,
  query: TrendsQuery,
  env: QueryContext,
  breakdown: Breakdown,
): Asking<Expr> {
  if (asked == null || !isBrokenDown(breakdown)) return literal(true)
  const values = Array.isArray(asked) ? asked : [asked]
  if (breakdown.cohorts.length) return or(...values.map((v) => (v === 'all' || Number(v) === 0 ? literal(true) : memberOf(Number(v)))))
  const texts = values.map(String)
  if (texts.includes(otherValue)) {
    const [answer] = yield* answerUnits([unit], query, env, breakdown)
    const shown = limitGroups(answer?.groups ?? [], breakdown).filter((group) => !group.parts.includes(otherValue))
    return not(or(...shown.map((group) => valuesCondition(group.parts, breakdown, env))))
  }
  return valuesCondition(texts, breakdown, env)
}

const valuesCondition = (values: readonly string[], breakdown: Breakdown, env: QueryContext): Expr =>
  allOf(
    ...breakdown.parts.map((part, i) =>
      values[i] === undefined ? literal(true) : (partEquals(part, values[i], breakdown, env) ?? literal(true)),
    ),
  )

// Options for selecting a point

function* optionsOf(point: TrendsPoint, env: QueryContext): Asking<ActorOptions> {
  const query = point.source
  const breakdown = trendsBreakdown(query)
  const ranges = yield* rangesOf(query, env)
  const range = ranges.get('current')!
  const day = isTotal(query)
    ? null
    : bucketEdges(range)
        .slice(0, -1)
        .map((start) => ({ label: bucketLabel(start, range), value: isoInstant(start, range.calendar.zone) }))
  const series = query.series.map((node, i) => ({ label: nodeName(node, env) ?? 'All events', value: i }))
  const compare = query.compareFilter?.compare
    ? [
        { label: 'Current', value: 'current' },
        { label: 'Previous', value: 'previous' },
      ]
    : null
  const common = { day, series, compare, interval: null, status: null }
  if (breakdown.cohorts.length) {
    const choices = breakdown.cohorts.map((id) => ({ label: id === 'all' ? 'all users' : (env.cohort(id)?.name ?? String(id)), value: id }))
    return { ...common, breakdown: choices, breakdowns: null }
  }
  if (!breakdown.parts.length) return { ...common, breakdown: null, breakdowns: null }

  const current = new Map([['current', range] as const])
  const units = unitsOf(query, env, breakdown, current).filter((unit) => unit.order === query.series.length - 1)
  const [answer] = yield* answerUnits(units, query, env, breakdown)
  const shown = limitGroups(answer?.groups ?? [], breakdown)
  const choices = breakdown.parts.map((part, i) => choicesOf([...new Set(shown.map((group) => group.parts[i]!))], part.binCount !== null))
  return breakdown.isList
    ? { ...common, breakdown: null, breakdowns: choices.map((values) => ({ values })) }
    : { ...common, breakdown: choices[0]!, breakdowns: null }
}

const allBins = '["",""]'

/** Bins have an option for all values, followed by Other and no value. */
function choicesOf(values: readonly string[], hasBins: boolean): Choice[] {
  const special = [otherValue, nullValue].filter((v) => values.includes(v))
  const ordered = hasBins ? [...values.filter((v) => !special.includes(v)), allBins, ...special] : values
  return ordered.map((v) => ({ label: v === otherValue ? otherLabel : v === nullValue ? nullLabel : v, value: v }))
}
