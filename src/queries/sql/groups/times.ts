import { noSpan } from '../../../errors/span.ts'
import { alias, call, field, literal, select } from '../../../language/ast/build.ts'
import type { Call, Expr, Query } from '../../../language/ast/nodes.ts'
import { rewrite, walk } from '../../../language/ast/walk.ts'
import { parseInstant } from '../../../language/resolver/times.ts'
import { type Micros, type Zone, zoneOf } from '../../../lib/time/zone.ts'
import type { QueryContext } from '../../kind.ts'
import { micros } from '../../time/dates.ts'

// The times of a statement that groups events: the range that its conditions allow, and the beginnings of its intervals.

/** `timestamp` is at least, or at most, a time. */
export interface Bound {
  readonly side: 'from' | 'to'
  readonly at: Expr
  readonly isIncluded: boolean
}

const isTimestamp = (expr: Expr): boolean => expr.kind === 'field' && expr.chain.join() === 'timestamp'

const comparisons: Readonly<Record<string, readonly [side: Bound['side'], isIncluded: boolean]>> = {
  greater: ['from', false],
  greaterOrEquals: ['from', true],
  less: ['to', false],
  lessOrEquals: ['to', true],
}

/** Reads no rows. */
function isConstant(expr: Expr): boolean {
  let found = true
  walk(expr, ({ kind }) => {
    found &&= kind !== 'field' && kind !== 'subquery' && kind !== 'star' && kind !== 'lambda'
  })
  return found
}

/** Null: the condition is another one. */
export function boundsOf(condition: Expr): readonly Bound[] | null {
  if (condition.kind === 'between') {
    const { expr, low, high, not } = condition
    if (not || !isTimestamp(expr) || !isConstant(low) || !isConstant(high)) return null
    return [
      { side: 'from', at: low, isIncluded: true },
      { side: 'to', at: high, isIncluded: true },
    ]
  }
  if (condition.kind !== 'call' || !Object.hasOwn(comparisons, condition.name) || condition.args.length !== 2) return null
  const [side, isIncluded] = comparisons[condition.name]!
  const [a, b] = condition.args as [Expr, Expr]
  if (isTimestamp(a) && isConstant(b)) return [{ side, at: b, isIncluded }]
  if (isTimestamp(b) && isConstant(a)) return [{ side: side === 'from' ? 'to' : 'from', at: a, isIncluded }]
  return null
}

/** The time of a bound, if it is written as a text. */
export const instantOf = ({ at }: Bound, { project }: QueryContext): Micros | null =>
  at.kind === 'literal' && typeof at.value === 'string' ? parseInstant(at.value, project.timezone) : null

/** What the engine makes of a bound, as text in UTC. A date is the midnight of the project's zone. */
export const textOfTime = (time: Expr): Expr =>
  call('toString', call('toDateTime64', call('toDateTime64', time, literal(6)), literal(6), literal('UTC')))
export const timeOfText = (text: string): Micros | null => parseInstant(text, 'UTC')

/** The same within each day of the zone, or within each quarter of an hour: where clocks differ from UTC by whole hours, within each hour. */
const unitOf: Readonly<Record<string, 'day' | 'quarter'>> = {
  toDate: 'day',
  toStartOfDay: 'day',
  toStartOfWeek: 'day',
  toMonday: 'day',
  toStartOfMonth: 'day',
  toStartOfQuarter: 'day',
  toStartOfYear: 'day',
  toYYYYMM: 'day',
  toYYYYMMDD: 'day',
  toStartOfHour: 'quarter',
}
const truncated: Readonly<Record<string, 'day' | 'quarter'>> = {
  hour: 'quarter',
  day: 'day',
  week: 'day',
  month: 'day',
  quarter: 'day',
  year: 'day',
}

export interface Intervals {
  readonly expr: Call
  /** Within one of these the expression has one value. */
  readonly unit: 'day' | 'quarter'
  /** Each day has another value. */
  readonly isDaily: boolean
}

const daily: ReadonlySet<string> = new Set(['toDate', 'toStartOfDay'])

/** Null: the expression is none of an interval of `timestamp`. */
export function intervalsOf(expr: Expr): Intervals | null {
  if (expr.kind !== 'call' || expr.params || expr.filter || expr.over) return null
  const { name, args } = expr
  if (name.toLowerCase() === 'datetrunc' || name === 'date_trunc') {
    const [unit, time] = args
    const isPlain = args.length === 2 && unit!.kind === 'literal' && typeof unit!.value === 'string' && isTimestamp(time!)
    const found = isPlain ? (unit as { value: string }).value.toLowerCase() : ''
    return Object.hasOwn(truncated, found) ? { expr, unit: truncated[found]!, isDaily: found === 'day' } : null
  }
  const takesMode = name === 'toStartOfWeek'
  if (!Object.hasOwn(unitOf, name) || !isTimestamp(args[0]!) || args.length > (takesMode ? 2 : 1)) return null
  return args.length === 1 || args[1]!.kind === 'literal' ? { expr, unit: unitOf[name]!, isDaily: daily.has(name) } : null
}

/** Offsets from UTC were no whole quarters of an hour before. */
const firstQuarters = Date.UTC(1973, 0, 1) * 1000
const quarter: Micros = 15 * 60 * 1_000_000
const day: Micros = 96 * quarter
const hour: Micros = 4 * quarter
/** Each is a text of a statement. */
const mostUnits = 1500
/** Where a statement says nothing, this is looked at; events outside of it refuse the lists. */
const usualDays = { day: { before: 1400, after: 3 }, quarter: { before: 50, after: 3 } } as const

export interface Range {
  /** Included, in microseconds. */
  readonly from: Micros | null
  /** Included. */
  readonly to: Micros | null
}

const areWholeHours = (zone: Zone, from: Micros, to: Micros): boolean =>
  [zone.offsetAt(from), ...zone.changes(from, to).map(({ after }) => after)].every((offset) => offset % hour === 0)

/** The beginnings of the days or parts of hours that a range touches, and the end of the last one. Null: they are too many. */
export function unitsIn({ unit }: Intervals, range: Range, { now, project }: QueryContext): readonly Micros[] | null {
  const from = range.from ?? micros(now) - usualDays[unit].before * day
  const to = range.to ?? Math.max(micros(now), from) + usualDays[unit].after * day
  if (from < firstQuarters || to < from || (to - from) / day > mostUnits) return null
  const zone = zoneOf(project.timezone)
  if (unit === 'quarter') {
    const step = areWholeHours(zone, from, to) ? hour : quarter
    const first = Math.floor(from / step) * step
    const count = Math.floor((to - first) / step) + 1
    return count > mostUnits ? null : Array.from({ length: count + 1 }, (_, i) => first + i * step)
  }
  const first = Math.floor(zone.toWall(from) / day)
  const last = Math.floor(zone.toWall(to) / day)
  return Array.from({ length: last - first + 2 }, (_, i) => zone.toInstant((first + i) * day))
}

/** A time as text, and what makes a time of that. */
export const textOfMicros = (time: Micros): string => new Date(time / 1000).toISOString()
export const timestampOf = (text: Expr): Expr => call('assumeNotNull', call('toDateTime64', text, literal(6)))

/** The expression of `timestamp` over another time. */
const over = (expr: Expr, time: Expr): Expr => rewrite<Expr>({ ...expr }, (node) => (isTimestamp(node as Expr) ? time : node))

/** For each of some times, `at`, the value of its interval as text: `value`. Of two hours with one name, when clocks are put back, the values differ. */
export function valuesAt({ expr, unit }: Intervals, times: readonly Micros[]): Query {
  const value = over(expr, timestampOf(field('at')))
  return select({
    columns: [field('at'), alias(unit === 'quarter' ? textOfTime(value) : call('toString', value), 'value')],
    arrayJoin: {
      kind: 'arrayJoin',
      left: false,
      items: [alias(call('splitByChar', literal(','), literal(times.map(textOfMicros).join(','))), 'at')],
      span: noSpan,
    },
  })
}
