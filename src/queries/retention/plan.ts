import { QueryError } from '../../errors/errors.ts'
import { call, field, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { endOf, type Interval, startOf } from '../../lib/time/calendar.ts'
import { day, hour, type Micros } from '../../lib/time/zone.ts'
import { allowCells } from '../answers/cells.ts'
import type { QueryContext, QueryRun } from '../kind.ts'
import { person } from '../scope.ts'
import { type Breakdown, breakdownOf, partText } from '../series/breakdown.ts'
import type { SeriesNode } from '../series/series.ts'
import { allOf, nodeCondition, nodeMatch, queryFilters } from '../series/series-condition.ts'
import { bucketEdges } from '../time/buckets.ts'
import type { Period } from '../time/comparison.ts'
import { isoInstant, previousRange, type ResolvedRange, resolveDateRange } from '../time/dates.ts'
import { earliestFor } from '../time/earliest.ts'
import type { RetentionEntity, RetentionFilter, RetentionPeriod, RetentionQuery } from './schema.ts'

// What a retention counts, before it is decided where: rows are the intervals in which actors start, values the intervals in which they return.

export interface RetentionPlan extends RetentionRows {
  readonly query: RetentionQuery
  readonly period: Period
  /** Values in each row. Value 0 is the size of the row. */
  readonly columns: number
  /** Who starts: in every interval with a start event, or only at the first one. */
  readonly type: 'recurring' | 'first time' | 'first ever'
  /** Ticks in an interval after the start. */
  readonly width: number
  /** Intervals start with each actor, instead of with the calendar. */
  readonly hasWindows: boolean
  /** The first offset of each value from 1 on, and the end of the last one, in intervals after the start. */
  readonly offsets: readonly number[]
  /** Values cover several intervals. */
  readonly hasBrackets: boolean
  readonly minimum: number
  readonly isCumulative: boolean
  readonly actor: Expr
  readonly group: number | null
  /** Events that start, those that only need the name or the action, and those that return. */
  readonly start: Expr
  readonly named: Expr
  readonly returning: Expr
  /** Conditions on all of these events. */
  readonly filters: Expr
  readonly breakdown: Breakdown
  /** The texts of the breakdown, '' if missing. */
  readonly parts: readonly Expr[]
  /** The number that is summed; null: actors are only counted. */
  readonly value: Expr | null
  /** The same events start and return. */
  readonly isSame: boolean
}

/** The rows of a period. */
interface RetentionRows {
  readonly range: ResolvedRange
  /** Starts of the rows, and the end of the last one. */
  readonly edges: readonly Micros[]
  readonly rows: number
  /** Times are counted by the numbers of these ticks: those of the rows, or shorter ones. */
  readonly ticks: readonly Micros[]
  /** The first tick of each row, and the end of the last one. */
  readonly rowTicks: readonly number[]
}

/** One value of the breakdown, or all actors, and its numbers: row after row. */
export interface RetentionGroup {
  readonly parts: readonly string[]
  readonly counts: Float64Array
  /** Sums of the property; null if actors are only counted. */
  readonly amounts: Float64Array | null
}

const defaultEntity: RetentionEntity = { id: '$pageview', type: 'events' }
const defaultIntervals = 8
const mostRows = 5_000
const mostCells = 200_000

const intervalOf: Readonly<Record<RetentionPeriod, Interval>> = { Hour: 'hour', Day: 'day', Week: 'week', Month: 'month' }
const shortest: Readonly<Record<RetentionPeriod, Micros>> = { Hour: hour, Day: 23 * hour, Week: 7 * day - hour, Month: 28 * day - hour }
/** Windows of each actor: hours from the hour of the start, or days from its day. */
const windowTicks: Readonly<Record<RetentionPeriod, readonly [Interval, number]>> = {
  Hour: ['hour', 1],
  Day: ['hour', 24],
  Week: ['day', 7],
  Month: ['day', 30],
}

export const periodOf = (filter: RetentionFilter | null | undefined): RetentionPeriod => filter?.period ?? 'Day'
export const bracketsOf = (filter: RetentionFilter | null | undefined): readonly number[] => filter?.retentionCustomBrackets ?? []
const intervalsOf = (filter: RetentionFilter | null | undefined): number => filter?.totalIntervals ?? defaultIntervals

const nodeOf = ({ id, type, properties }: RetentionEntity): SeriesNode =>
  type === 'actions'
    ? { kind: 'ActionsNode', id: Number(id), properties }
    : { kind: 'EventsNode', event: id == null ? null : String(id), properties }

/** The current period, and the previous one if there is a comparison. */
export function* planRetention(query: RetentionQuery, env: QueryContext): QueryRun<readonly RetentionPlan[]> {
  const filter = query.retentionFilter
  const period = periodOf(filter)
  const brackets = bracketsOf(filter)
  const offsets = brackets.length > 0 ? [1] : Array.from({ length: intervalsOf(filter) }, (_, i) => i + 1)
  for (const size of brackets) offsets.push(offsets.at(-1)! + size)
  const columns = offsets.length
  const hasWindows = filter?.timeWindowMode === '24_hour_windows'
  const [tick, width] = hasWindows ? windowTicks[period] : [intervalOf[period], 1]
  const group = query.aggregation_group_type_index ?? null
  const breakdown = breakdownOf(query.breakdownFilter)
  const [target, back] = [filter?.targetEntity ?? defaultEntity, filter?.returningEntity ?? defaultEntity]
  const [targetNode, backNode] = [nodeOf(target), nodeOf(back)]
  const actor = group === null ? person : field(`$group_${group}`)
  const counted: Omit<RetentionPlan, 'period' | keyof RetentionRows> = {
    query,
    columns,
    type:
      filter?.retentionType === 'retention_first_time'
        ? 'first time'
        : filter?.retentionType === 'retention_first_ever_occurrence'
          ? 'first ever'
          : 'recurring',
    width,
    hasWindows,
    offsets,
    hasBrackets: brackets.length > 0,
    minimum: filter?.minimumOccurrences ?? 1,
    isCumulative: filter?.cumulative === true,
    actor,
    group,
    start: nodeCondition(targetNode, env, 'retentionFilter__targetEntity'),
    named: nodeMatch(targetNode, env, 'retentionFilter__targetEntity'),
    returning: nodeCondition(backNode, env, 'retentionFilter__returningEntity'),
    filters: allOf(queryFilters(query, env), group === null ? literal(true) : call('notEquals', actor, literal(''))),
    breakdown,
    parts: breakdown.parts.map((part) => call('ifNull', partText(part, breakdown, env), literal(''))),
    value: numberOf(filter),
    isSame: JSON.stringify([targetNode, targetNode.properties ?? []]) === JSON.stringify([backNode, backNode.properties ?? []]),
  }
  const current = rowsIn(yield* rangeOf(query, period, env), tick)
  if (current.rows * columns > mostCells) throw tooLong(`${current.rows} rows of ${columns} values`, query)
  allowCells({
    buckets: current.rows,
    interval: current.range.interval,
    series: columns * (query.compareFilter?.compare ? 2 : 1) * Math.max(1, breakdown.cohorts.length),
    values: breakdown.parts.length > 0 ? breakdown.limit + 1 : 1,
  })
  const plan: RetentionPlan = { ...counted, ...current, period: 'current' }
  if (!query.compareFilter?.compare) return [plan]
  return [plan, { ...counted, ...rowsIn(rangeBefore(current, query.compareFilter.compare_to), tick), period: 'previous' }]
}

function rowsIn(range: ResolvedRange, tick: Interval): RetentionRows {
  const edges = bucketEdges(range)
  const ticks = tick === range.interval ? edges : bucketEdges(range, tick)
  return { range, edges, rows: edges.length - 1, ticks, rowTicks: ticksAt(edges, ticks) }
}

/** As many rows: those right before, or from the interval on that contains the start shifted back. */
function rangeBefore({ range, rows }: RetentionRows, compareTo: string | null | undefined): ResolvedRange {
  const { interval, calendar } = range
  let first = range.from
  if (compareTo) first = startOf(interval, previousRange(range, compareTo).from, calendar)
  else for (let row = 0; row < rows; row++) first = startOf(interval, first - 1, calendar)
  let end = first
  for (let row = 0; row < rows; row++) end = endOf(interval, end, calendar)
  return { ...range, from: first, to: end - 1, firstEvent: first }
}

/** Values that are not numbers count as 0. */
function numberOf(filter: RetentionFilter | null | undefined): Expr | null {
  if (filter?.aggregationType !== 'sum' && filter?.aggregationType !== 'avg') return null
  const property = filter.aggregationProperty!
  const read = filter.aggregationPropertyType === 'person' ? field('person', 'properties', property) : field('properties', property)
  return call('ifNull', call('toFloat', read), literal(0))
}

/** From the start of the first row to the end of the last one. */
function* rangeOf(query: RetentionQuery, period: RetentionPeriod, env: QueryContext): QueryRun<ResolvedRange> {
  const interval = intervalOf[period]
  const earliest = yield* earliestFor(query.dateRange)
  const asked = resolveDateRange(query.dateRange, interval, env, { earliest })
  const { calendar } = asked
  const last = startOf(interval, asked.to, calendar)
  let first = last
  if (query.dateRange?.date_from) first = startOf(interval, asked.from, calendar)
  else for (let i = 1; i < intervalsOf(query.retentionFilter); i++) first = startOf(interval, first - 1, calendar)
  if ((last - first) / shortest[period] > mostRows) {
    const isAll = asked.parsed.from === 'all'
    throw tooLong(`more than ${mostRows} rows`, query, isAll ? isoInstant(asked.from, calendar.zone) : undefined)
  }
  const [end] = bucketEdges({ ...asked, from: last, to: last }).slice(1)
  return { ...asked, from: first, to: last < first ? first - 1 : end! - 1, firstEvent: first }
}

const tooLong = (found: string, { dateRange }: RetentionQuery, earliest?: string) =>
  new QueryError('validation-failed', {
    message: `${earliest ? `All time starts at the earliest event (${earliest}). ` : ''}The retention has ${found}; at most ${mostRows} rows and ${mostCells} values are supported. Choose a longer period, a later date_from or fewer totalIntervals.`,
    attr: dateRange?.date_from ? 'dateRange__date_from' : 'retentionFilter__totalIntervals',
  })

/** Every row begins with a tick. */
function ticksAt(edges: readonly Micros[], ticks: readonly Micros[]): readonly number[] {
  let tick = 0
  return edges.map((edge) => {
    while (tick + 1 < ticks.length && ticks[tick]! < edge) tick++
    return tick
  })
}

/** Only the first start counts. */
export const hasFirst = ({ type }: Pick<RetentionPlan, 'type'>): boolean => type !== 'recurring'
