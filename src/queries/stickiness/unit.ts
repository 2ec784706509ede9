import { alias, call, field, from, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Expr, Select } from '../../language/ast/nodes.ts'
import { add } from '../../lib/time/calendar.ts'
import type { Micros } from '../../lib/time/zone.ts'
import { allowCells } from '../answers/cells.ts'
import type { QueryContext, QueryRun } from '../kind.ts'
import { eventExprOf } from '../origin.ts'
import { at, eventsTable, person, since, until } from '../scope.ts'
import type { SeriesNode } from '../series/series.ts'
import { allOf, isMissing, nodeCondition, queryFilters } from '../series/series-condition.ts'
import { bucketNumber } from '../time/bucket-number.ts'
import { bucketEdges } from '../time/buckets.ts'
import { type PeriodRange, periodRanges } from '../time/comparison.ts'
import type { ResolvedRange } from '../time/dates.ts'
import type { Comparison, StickinessQuery } from './schema.ts'

/** A series in a period, and whom it counts. */
export interface StickinessUnit extends PeriodRange {
  readonly node: SeriesNode
  readonly order: number
  /** Starts of the intervals, and the end of the last one. */
  readonly edges: readonly Micros[]
  /** The numbers of a row: as many as there are intervals. */
  readonly size: number
  readonly actor: Expr
  readonly kind: 'person' | 'group' | 'expression'
  readonly group: number | null
  /** The events that count, regardless of time. */
  readonly events: Expr
}

/** Events that an actor needs in an interval. */
export const criteriaOf = ({ stickinessFilter }: StickinessQuery): { readonly operator: Comparison; readonly value: number } | null =>
  stickinessFilter?.stickinessCriteria ?? null
export const isCumulative = ({ stickinessFilter }: StickinessQuery): boolean => stickinessFilter?.computedAs === 'cumulative'

/** The units of a query: those of the current period first. */
export function* unitsOf(query: StickinessQuery, env: QueryContext): QueryRun<readonly StickinessUnit[]> {
  const periods = yield* periodRanges(query, query.interval ?? 'day', env)
  const filters = queryFilters(query, env)
  for (const { range } of periods)
    allowCells({
      buckets: Math.ceil((bucketEdges(range).length - 1) / (query.intervalCount ?? 1)),
      interval: range.interval,
      series: query.series.length * periods.length,
    })
  return periods.flatMap(({ period, range }) => {
    const intervals = intervalsOf(range, query.intervalCount)
    return query.series.flatMap((node, order) => {
      if (isMissing(node, env)) return []
      const whom = actorOf(node, order, query, env)
      const events = allOf(nodeCondition(node, env, `series__${order}`), filters, whom.condition)
      return [{ node, order, period, range, ...intervals, ...whom, events }]
    })
  })
}

/** Calendar intervals, or several of them together, counted back from the end of the range. */
function intervalsOf(range: ResolvedRange, count: number | null | undefined): Pick<StickinessUnit, 'edges' | 'size'> {
  const calendar = bucketEdges(range)
  const size = calendar.length - 1
  if (count == null) return { edges: calendar, size }
  const end = range.to + 1
  const edges = [end]
  for (let i = 1; edges.at(-1)! > range.firstEvent; i++) edges.push(add(range.interval, -i * count, end, range.calendar))
  return { edges: edges.reverse(), size: Math.ceil(size / count) }
}

function actorOf(
  node: SeriesNode,
  order: number,
  query: StickinessQuery,
  env: QueryContext,
): Pick<StickinessUnit, 'actor' | 'kind' | 'group'> & { readonly condition: Expr } {
  const expression = node.math === 'hogql' ? node.math_hogql!.trim() : 'person_id'
  if (expression !== 'person_id') {
    const actor = call('toString', eventExprOf(expression, `series__${order}__math_hogql`, env))
    return { actor, kind: 'expression', group: null, condition: call('isNotNull', actor) }
  }
  const group = node.math_group_type_index ?? query.aggregation_group_type_index ?? null
  if (group === null || node.math === 'hogql') return { actor: person, kind: 'person', group: null, condition: literal(true) }
  const actor = field(`$group_${group}`)
  return { actor, kind: 'group', group, condition: call('notEquals', actor, literal('')) }
}

const functions: Readonly<Record<Comparison, string>> = {
  gte: 'greaterOrEquals',
  lte: 'lessOrEquals',
  exact: 'equals',
  gt: 'greater',
  lt: 'less',
}
export const compared = (value: Expr, operator: Comparison, limit: number): Expr => call(functions[operator], value, literal(limit))

/** One row per actor: in how many intervals it has enough events, and how many events these are. */
export function activeIntervals({ actor, range, edges, events }: StickinessUnit, query: StickinessQuery): Select {
  const criteria = criteriaOf(query)
  const inner = select({
    columns: [alias(actor, 'actor'), alias(bucketNumber(at, edges), 'bucket'), alias(call('count'), 'events_in')],
    from: eventsTable(query.samplingFactor),
    where: allOf(since(range.firstEvent), until(range.to), events),
    groupBy: groupBy(field('actor'), field('bucket')),
    having: criteria && compared(call('count'), criteria.operator, criteria.value),
  })
  return select({
    columns: [field('actor'), alias(call('count'), 'intervals'), alias(call('sum', field('events_in')), 'event_count')],
    from: from(inner, 'buckets'),
    groupBy: groupBy(field('actor')),
  })
}
