import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import { alias, and, call, equals, field, from, groupBy, literal, select, table } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { calendarOf, endOf, startOf } from '../../lib/time/calendar.ts'
import type { Micros } from '../../lib/time/zone.ts'
import type { ActorList, ActorOptions, ActorSource, Asking, Choice } from '../actor-source.ts'
import { fields } from '../fields.ts'
import { along, given, type QueryContext } from '../kind.ts'
import { refuse } from '../refusals.ts'
import { everyQuery } from '../schemas.ts'
import { eventsTable, since, until } from '../scope.ts'
import { nullLabel, nullValue, otherLabel, otherValue } from '../series/breakdown-values.ts'
import { mathFacts } from '../series/maths.ts'
import { allOf, nodeName } from '../series/series-condition.ts'
import { bucketEdges, bucketIndex, bucketLabel } from '../time/buckets.ts'
import { noComparison, periodChoices, periods } from '../time/comparison.ts'
import { dateInstant, isoInstant, micros, type ResolvedRange } from '../time/dates.ts'
import { fineInterval, isPlainUnique, totalTimes, windowOf } from './active-users.ts'
import { isInBox, plainBoxes } from './box-plot.ts'
import { trendsBreakdown } from './breakdown.ts'
import { firstEvents, isFirstInRange } from './first-time.ts'
import { countedQuery } from './goal.ts'
import { partColumn } from './groups.ts'
import { isInCell } from './heatmap.ts'
import { answerUnits, rangesOf, unitsOf } from './index.ts'
import { listedActorsOf } from './listed-actors.ts'
import { contextOf } from './plan.ts'
import type { PlanContext } from './plan-context.ts'
import { limitGroups } from './ranking.ts'
import { displayOf, isCumulative, isTotal, type TrendsQuery, trendsSchema } from './schema.ts'
import { isSlope, plainSlope } from './slope.ts'
import { actorOf, isFirstTime, type Times, type Unit } from './unit.ts'
import { type ValueOfPoint, valueOfPoint } from './value-of-point.ts'

const value = z.union([z.string(), z.number()])

export const trendsPointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('InsightActorsQuery'),
    source: trendsSchema,
    day: value.nullish(),
    series: z.number().int().min(0).nullish(),
    breakdown: z.union([value, z.array(value)]).nullish(),
    compare: z.enum(periods).nullish(),
    /** Of a calendar heat map: the day of the week, Monday is 1, and the hour. */
    row: z.number().int().min(1).max(7).nullish(),
    column: z.number().int().min(0).max(23).nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
  ['point'],
)
export type TrendsPoint = z.infer<typeof trendsPointSchema>

export const trendsActors: ActorSource<typeof trendsPointSchema> = {
  wrapper: 'InsightActorsQuery',
  kind: 'TrendsQuery',
  schema: trendsPointSchema,
  actors: actorsBehind,
  options: optionsOf,
}

function* actorsBehind(point: TrendsPoint, env: QueryContext): Asking<ActorList> {
  const query = countedQuery(plainBoxes(plainSlope(point.source)), env)
  const order = point.series ?? 0
  if (order >= query.series.length)
    throw new QueryError('validation-failed', {
      message: `There is no series ${order}: the query has ${query.series.length} series, counted from 0.`,
      attr: 'source__series',
    })
  const breakdown = trendsBreakdown(query)
  const ranges = yield* rangesOf(query, env)
  const period = point.compare ?? 'current'
  if (!ranges.some((one) => one.period === period))
    throw new QueryError('validation-failed', {
      message: isSlope(query) ? 'A slope graph does not support a comparison period: leave compare out.' : noComparison,
      attr: 'source__compare',
    })
  const units = unitsOf(query, env, { ...breakdown, cohorts: [] }, ranges)
  const unit = units.find((u) => u.order === order && u.period === period)
  if (!unit) return { query: nobody, group: null, columns: ['event_count'] }

  const cell = (['row', 'column'] as const).find((name) => point[name] != null)
  if (cell && displayOf(query) !== 'CalendarHeatmap')
    throw new QueryError('validation-failed', { message: 'Only a calendar heat map has rows and columns.', attr: `source__${cell}` })
  const value = ownValue(point, query, unit, env) ?? (yield* valueOfPoint(point.breakdown, unit, query, env, breakdown))
  const context = contextOf(unit, query, env, { ...breakdown, parts: [] }, [])
  const bucket = isTotal(query) || point.day == null ? null : bucketAt(point.day, unit, ranges[0]!.range, env)
  const times = isFirstTime(unit) ? timesOfFirst(context, bucket) : timesOf(context, bucket)
  const isOf = value.kind === 'all' ? literal(true) : value.condition
  const found = yield* along<Query>({
    label: `actors of series ${order}`,
    lists: () => (query.madeSessions ? refuse('sessions-made') : listedActorsOf({ unit, query, breakdown, times, value }, env)),
    statement: () => given(isFirstTime(unit) ? firstActors(context, times, isOf) : actorsIn(context, times, isOf)),
  })
  return { query: found, group: actorOf(unit).group, columns: ['event_count'] }
}

/** Of a cell of a heat map, or of a box: these have no breakdown. */
function ownValue(point: TrendsPoint, query: TrendsQuery, unit: Unit, env: QueryContext): ValueOfPoint | null {
  switch (displayOf(query)) {
    case 'CalendarHeatmap':
      return point.row == null && point.column == null ? null : { kind: 'condition', condition: isInCell(point, query, unit) }
    case 'BoxPlot':
      return { kind: 'condition', condition: isInBox(unit, env) }
    default:
      return null
  }
}

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

/** In the period to compare with, a day of the current one means the bucket at the same place. */
function bucketAt(day: string | number, { range }: Unit, current: ResolvedRange, env: QueryContext): Bucket {
  const calendar = calendarOf(env.project)
  const instant = typeof day === 'string' ? dateInstant(day, micros(env.now), calendar) : null
  if (instant === null)
    throw new QueryError('validation-failed', { message: `${JSON.stringify(day)} is not a day of the chart.`, attr: 'source__day' })
  const place = bucketIndex(instant, range) < 0 ? bucketIndex(instant, current) : -1
  const start = place < 0 ? startOf(range.interval, instant, calendar) : bucketEdges(range)[place]
  if (start === undefined) return { start: instant, end: instant }
  return { start, end: endOf(range.interval, start, calendar) }
}

/** The times of the events counted at the bucket. Running totals count all up to its end. */
function timesOf({ unit, query }: PlanContext, bucket: Bucket | null): Times {
  const { range, node } = unit
  if (mathFacts(node.math).counts === 'recent actors') {
    if (isTotal(query)) return totalTimes(unit)
    if (bucket && !isPlainUnique(unit)) {
      const fine = fineInterval(range.interval)
      const [after, last] = windowOf(bucket.start, unit)
      return { from: endOf(fine, after, range.calendar), to: Math.min(endOf(fine, last, range.calendar) - 1, range.to) }
    }
  }
  if (!bucket) return { from: range.firstEvent, to: range.to }
  return {
    from: isCumulative(query) ? range.firstEvent : Math.max(bucket.start, range.firstEvent),
    to: Math.min(bucket.end - 1, range.to),
  }
}

/** The times of the first events that count at the bucket. */
const timesOfFirst = ({ unit: { range }, query }: PlanContext, bucket: Bucket | null): Times => ({
  from: bucket && !isCumulative(query) ? Math.max(bucket.start, range.firstEvent) : range.firstEvent,
  to: bucket ? bucket.end - 1 : range.to,
})

function actorsIn(context: PlanContext, times: Times, isOf: Expr): Query {
  const actor = actorOf(context.unit)
  return select({
    columns: [alias(actor.expr, 'actor'), alias(call('count'), 'event_count')],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(since(times.from), until(times.to), context.events, actor.condition, isOf),
    groupBy: groupBy(field('actor')),
  })
}

/** The value of the breakdown is that of the first event only. */
function firstActors(context: PlanContext, times: Times, isOf: Expr): Query {
  const { unit, filters } = context
  const marked = { ...context, parts: [call('if', isOf, literal('1'), literal('0'))] }
  const inner = mathFacts(unit.node.math).ignoresFilters
    ? firstEvents(marked, filters, literal(true))
    : firstEvents(marked, literal(true), filters)
  const isCounted = and(
    call('greaterOrEquals', field('first_at'), literal(times.from)),
    call('lessOrEquals', field('first_at'), literal(times.to)),
  )
  return select({
    columns: [field('actor'), alias(literal(1), 'event_count')],
    from: from(inner, 'firsts'),
    where: allOf(isFirstInRange(context), isCounted, equals(field(partColumn(0)), literal('1'))),
  })
}

// Options for selecting a point

function* optionsOf(point: TrendsPoint, env: QueryContext): Asking<ActorOptions> {
  const query = plainSlope(point.source)
  const breakdown = trendsBreakdown(query)
  const ranges = yield* rangesOf(query, env)
  const { range } = ranges[0]!
  const day = isTotal(query)
    ? null
    : bucketEdges(range)
        .slice(0, -1)
        .filter((_, i, all) => !isSlope(query) || i === 0 || i === all.length - 1)
        .map((start) => ({ label: bucketLabel(start, range), value: isoInstant(start, range.calendar.zone) }))
  const series = query.series.map((node, i) => ({ label: nodeName(node, env) ?? 'All events', value: i }))
  const compare = query.compareFilter?.compare ? periodChoices : null
  const common = { day, series, compare, interval: null, status: null }
  if (breakdown.cohorts.length) {
    const choices = breakdown.cohorts.map((id) => ({ label: id === 'all' ? 'all users' : (env.cohort(id)?.name ?? String(id)), value: id }))
    return { ...common, breakdown: choices, breakdowns: null }
  }
  if (!breakdown.parts.length) return { ...common, breakdown: null, breakdowns: null }

  const units = unitsOf(query, env, breakdown, ranges.slice(0, 1)).filter((unit) => unit.order === query.series.length - 1)
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
