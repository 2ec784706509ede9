import type { Table } from 'apache-arrow'
import { countRolling } from '../../core/kernels/trends/rolling.ts'
import { alias, and, field, groupBy, literal, select } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { add, endOf, type Interval } from '../../lib/time/calendar.ts'
import type { Micros } from '../../lib/time/zone.ts'
import { allowFound } from '../answers/cells.ts'
import { codesOf, integers, isText, TextCodes } from '../answers/vectors.ts'
import { at, eventsTable, since, until } from '../scope.ts'
import { mathFacts } from '../series/maths.ts'
import { allOf } from '../series/series-condition.ts'
import { bucketNumber } from '../time/bucket-number.ts'
import type { ResolvedRange } from '../time/dates.ts'
import { uniqueActors } from './aggregate-math.ts'
import { type Group, groupCodes, partColumns, partFields, type UnitPlan } from './groups.ts'
import type { PlanContext } from './plan-context.ts'
import { actorOf, type Times, type Unit } from './unit.ts'

// Distinct actors of the 7 or 30 days that end with each bucket.

const daysOf = ({ node }: Pick<Unit, 'node'>): number => mathFacts(node.math).days!

const asLong: Readonly<Record<number, readonly Interval[]>> = {
  7: ['week', 'month', 'quarter', 'year'],
  30: ['month', 'quarter', 'year'],
}

/** A bucket as long as the window has the same actors as the window. */
export const isPlainUnique = (unit: Pick<Unit, 'node' | 'range'>): boolean => asLong[daysOf(unit)]!.includes(unit.range.interval)

/** Events are truncated to days, or to the shorter interval of the query. */
export const fineInterval = (interval: Interval): Interval =>
  interval === 'hour' || interval === 'minute' || interval === 'second' ? interval : 'day'

/** The window of a bucket as instants: after the first one, up to and including the fine bucket that starts at the second one. */
export const windowOf = (start: Micros, unit: Unit): readonly [after: Micros, last: Micros] => [
  add('day', -daysOf(unit), start, unit.range.calendar),
  start,
]

/** The windows of all buckets, each from its first instant to the one after its last. */
export function windowsOf(unit: Unit): { readonly begins: readonly Micros[]; readonly ends: readonly Micros[] } {
  const { calendar, interval } = unit.range
  const fine = fineInterval(interval)
  const windows = (unit.edges ?? []).slice(0, -1).map((start) => windowOf(start, unit))
  return {
    begins: windows.map(([after]) => endOf(fine, after, calendar)),
    ends: windows.map(([, last]) => endOf(fine, last, calendar)),
  }
}

/** The events that any number of the unit counts: windows start before the range. */
export function countedTimes(unit: Unit): Times {
  const { node, range } = unit
  const isRecent = mathFacts(node.math).counts === 'recent actors'
  if (isRecent && !unit.edges) return totalTimes(unit)
  if (!isRecent || isPlainUnique(unit)) return { from: range.firstEvent, to: range.to }
  const { begins, ends } = windowsOf(unit)
  return rollingTimes(begins, ends, range)
}

export function countedTime(unit: Unit): Expr {
  const { from, to } = countedTimes(unit)
  return from > to ? literal(false) : and(since(from), until(to))
}

/** Those of no event. */
const noTimes: Times = { from: 0, to: -1 }

/** The times that all windows together reach over. */
export const rollingTimes = (begins: readonly Micros[], ends: readonly Micros[], { to }: ResolvedRange): Times =>
  begins.length ? { from: begins[0]!, to: Math.min(ends.at(-1)! - 1, to) } : noTimes

export function planRolling(context: PlanContext): UnitPlan {
  const { unit, parts } = context
  const { begins, ends } = windowsOf(unit)
  // No window starts or ends between two edges: with few visible buckets, a week in seconds has few of them.
  const edges = [...new Set([...begins, ...ends])].sort((a, b) => a - b)
  const { first, last } = windowsBetween(edges, begins, ends)
  const actor = actorOf(unit)
  const query = select({
    columns: [alias(bucketNumber(at, edges), 'bucket'), ...partColumns(parts), alias(actor.expr, 'actor')],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(countedTime(unit), context.events, actor.condition),
    groupBy: groupBy(field('bucket'), ...partFields(parts.length), field('actor')),
  })
  return { query, read: (answer) => readRolling(answer, parts.length, begins.length, first, last) }
}

/** For each range between edges the windows that contain it: they are adjacent, because windows move with their buckets. */
function windowsBetween(edges: readonly Micros[], begins: readonly Micros[], ends: readonly Micros[]) {
  const count = Math.max(edges.length - 1, 0)
  const first = new Int32Array(count)
  const last = new Int32Array(count)
  let [low, high] = [0, -1]
  for (let i = 0; i < count; i++) {
    const at = edges[i]!
    while (low < ends.length && ends[low]! <= at) low++
    while (high + 1 < begins.length && begins[high + 1]! <= at) high++
    first[i] = low
    last[i] = high
  }
  return { first, last }
}

function readRolling(answer: Table, partCount: number, windows: number, first: Int32Array, last: Int32Array): Group[] {
  if (answer.numRows === 0) return []
  const fine = integers(answer, 'bucket')
  const { actor, actors } = actorNumbers(answer)
  const { codes, groups } = groupCodes(answer, partCount)
  allowFound(groups.length, windows)
  const counts = countRolling({ fine, actor, group: codes, actors, groups: groups.length, first, last, windows })
  // A value that occurs only between the windows has no row.
  return counts.flatMap((data, i) => (partCount === 0 || data.some((n) => n > 0) ? [{ parts: groups[i]!, data: [...data] }] : []))
}

/** Persons have numbers; keys of groups are assigned some. */
function actorNumbers(answer: Table): { actor: Int32Array; actors: number } {
  if (isText(answer, 'actor')) {
    const keys = new TextCodes()
    return { actor: codesOf(answer, 'actor', keys), actors: keys.values.length }
  }
  const actor = integers(answer, 'actor')
  let most = -1
  for (let i = 0; i < actor.length; i++) if (actor[i]! > most) most = actor[i]!
  return { actor, actors: most + 1 }
}

/** As a single number, the window ends with the range, whatever its start. */
export function planActiveTotal(context: PlanContext): UnitPlan {
  const { unit, parts } = context
  const actor = actorOf(unit)
  const query = select({
    columns: [...partColumns(parts), alias(uniqueActors(context), 'value')],
    from: eventsTable(context.query.samplingFactor),
    where: allOf(countedTime(unit), context.events, actor.condition),
    groupBy: groupBy(...partFields(parts.length)),
    having: context.having,
  })
  return { query, read: (answer) => context.readGroups(answer) }
}

export const totalTimes = (unit: Unit): Times => ({
  from: add('day', -daysOf(unit), unit.range.to, unit.range.calendar) + 1,
  to: unit.range.to,
})
