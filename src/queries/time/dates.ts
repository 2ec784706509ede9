import { QueryError } from '../../errors/errors.ts'
import {
  add,
  addWall,
  type Calendar,
  calendarOf,
  clampDay,
  endOf,
  firstMoment,
  type Interval,
  lastMoment,
  readWall,
  startOf,
  startOfWall,
  writeWall,
  yearText,
} from '../../lib/time/calendar.ts'
import { hour, type Micros, second, type Zone } from '../../lib/time/zone.ts'
import type { QueryContext } from '../kind.ts'

// From the dates of a query to the start and end of its range.

export interface DateRange {
  readonly date_from?: string | null
  readonly date_to?: string | null
  /** Both ends as written, without rounding. */
  readonly explicitDate?: boolean | null
}

/** `-7d`, `mStart`: an offset from now, then a start or end of the unit. */
export interface RelativeDate {
  readonly kind: 'relative'
  readonly unit: Interval | null
  readonly count: number
  readonly edge: 'Start' | 'End' | null
}
export interface AbsoluteDate {
  readonly kind: 'absolute'
  readonly at: Micros
}
export type ParsedDate = RelativeDate | AbsoluteDate

/** Both ends are inclusive. */
export interface ResolvedRange {
  readonly from: Micros
  readonly to: Micros
  /** The first time that is counted: if a query starts in the middle of a bucket, this decides whether the bucket is complete. */
  readonly firstEvent: Micros
  readonly interval: Interval
  readonly calendar: Calendar
  readonly parsed: { readonly from: ParsedDate | 'all'; readonly to: ParsedDate | null; readonly isExplicit: boolean }
}

const iso =
  /^(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/
// Upper case letters other than M have no meaning.
const relative = /^-?(\d{1,9})?([hdwmqysHDWMQYS])(Start|End)?$/
const units: Readonly<Record<string, readonly [Interval, number]>> = {
  s: ['second', 1],
  M: ['minute', 1],
  h: ['hour', 1],
  d: ['day', 1],
  w: ['week', 1],
  m: ['month', 1],
  q: ['week', 13],
  y: ['year', 1],
}
const edges = 'hdwmqy'

/** null when the text is not a date. */
export function parseDate(text: string, zone: Zone): ParsedDate | null {
  const trimmed = text.trim()
  if (/^\d{4}-/.test(trimmed)) return parseIso(trimmed, zone)
  const match = relative.exec(trimmed)
  if (!match) return null
  const [, count, letter, ending] = match
  const edge = ending && edges.includes(letter!) ? (ending as 'Start' | 'End') : null
  // Quarters of the calendar; without an edge, 13 weeks.
  const [unit, times] = edge && letter === 'q' ? (['quarter', 1] as const) : (units[letter!] ?? [null, 0])
  return { kind: 'relative', unit, count: Number(count ?? 0) * times, edge }
}

function parseIso(text: string, zone: Zone): AbsoluteDate | null {
  const match = iso.exec(text)
  if (!match) return null
  const [year, month, date, hours, minutes, seconds] = match.slice(1, 7).map((part, i) => Number(part ?? (i === 2 ? 1 : 0))) as [
    number,
    ...number[],
  ]
  const wall = writeWall({
    year,
    month: month!,
    day: date!,
    time: ((hours! * 60 + minutes!) * 60 + seconds!) * second + Number((match[7] ?? '').padEnd(6, '0').slice(0, 6)),
  })
  const back = readWall(wall)
  if (back.month !== month || back.day !== date || minutes! > 59 || seconds! > 59) return null
  const offset = match[8]
  if (!offset) return { kind: 'absolute', at: zone.toInstant(wall) }
  if (/z/i.test(offset)) return { kind: 'absolute', at: wall }
  const ahead = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3).replace(':', ''))
  return { kind: 'absolute', at: wall - (offset[0] === '-' ? -1 : 1) * ahead * 60 * second }
}

/** The instant of a parsed date, rounded only if the text asks for it. Null: its local time is outside of the years that events can have. */
function instantOf(date: ParsedDate, now: Micros, calendar: Calendar): Micros | null {
  if (date.kind === 'absolute') return isWithinYears(calendar.zone.toWall(date.at)) ? date.at : null
  const moved = date.unit ? movedBack(date.count, date.unit, now, calendar) : now
  return moved !== null && date.edge && date.unit ? edgeOf(date.unit, date.edge, moved, calendar) : moved
}

const isWithinYears = (wall: Micros): boolean => wall >= firstMoment && wall < lastMoment

/** Null: before the years that events can have. Dates of JavaScript, and with them time zones, end at the year -271821. */
export function movedBack(count: number, unit: Interval, at: Micros, calendar: Calendar): Micros | null {
  return isWithinYears(addWall(unit, -count, calendar.zone.toWall(at))) ? add(unit, -count, at, calendar) : null
}

function edgeOf(unit: Interval, edge: 'Start' | 'End', at: Micros, calendar: Calendar): Micros {
  if (unit !== 'month' && unit !== 'year') return edge === 'Start' ? startOf(unit, at, calendar) : endOf(unit, at, calendar) - 1
  // Months and years move the date and keep the time of day. The end of a year moves the day alone: that is how saved queries are read.
  const wall = readWall(calendar.zone.toWall(at))
  const month = unit === 'year' && edge === 'Start' ? 1 : wall.month
  return calendar.zone.toInstant(writeWall(clampDay({ ...wall, month, day: edge === 'Start' ? 1 : 31 })))
}

/** The instant of a text, for filters: absolute, or relative to now. Null: not a date in the years 0 to 9999. */
export function dateInstant(text: string, now: Micros, calendar: Calendar): Micros | null {
  const parsed = parseDate(text, calendar.zone)
  return parsed && instantOf(parsed, now, calendar)
}

export const startsWithFirstEvent = (range: DateRange | null | undefined): boolean => range?.date_from === 'all'

export interface RangeOptions {
  /** The time of the earliest event; needed when `startsWithFirstEvent`. Null: no events. */
  readonly earliest?: Micros | null
  /** Relative ends keep their microseconds (a number on a dashboard). */
  readonly isExact?: boolean
}

const defaultFrom = '-7d'
const isShort = (interval: Interval) => interval === 'second' || interval === 'minute' || interval === 'hour'

export const micros = (date: Date): Micros => date.getTime() * 1000

export function resolveDateRange(
  range: DateRange | null | undefined,
  interval: Interval,
  env: Pick<QueryContext, 'now' | 'project'>,
  options: RangeOptions = {},
): ResolvedRange {
  const calendar = calendarOf(env.project)
  const now = micros(env.now)
  const isExplicit = range?.explicitDate === true
  const to = range?.date_to ? parseField(range.date_to, 'date_to', now, calendar) : null
  const end = roundEnd(to?.parsed ?? null, to?.at ?? now, { interval, calendar, isExplicit, isExact: options.isExact === true })
  if (range?.date_from === 'all') {
    const from = options.earliest ?? now
    return finish(from, end, interval, calendar, { from: 'all', to: to?.parsed ?? null, isExplicit })
  }
  const { parsed: from, at: start } = parseField(range?.date_from || defaultFrom, 'date_from', now, calendar)
  const parsed = { from, to: to?.parsed ?? null, isExplicit }
  if (!range?.date_from) return finish(startOf('day', start, calendar), end, interval, calendar, parsed)
  const isRounded = from.kind === 'relative' && !isExplicit && !options.isExact && interval !== 'minute' && interval !== 'second'
  const rounded = isRounded ? startOf(from.kind === 'relative' && from.unit === 'hour' ? 'hour' : 'day', start, calendar) : start
  return finish(rounded, end, interval, calendar, parsed)
}

function parseField(
  text: string,
  name: 'date_from' | 'date_to',
  now: Micros,
  calendar: Calendar,
): { readonly parsed: ParsedDate; readonly at: Micros } {
  const parsed = parseDate(text, calendar.zone)
  if (!parsed) throw notADate(text, `dateRange__${name}`)
  const at = instantOf(parsed, now, calendar)
  if (at !== null) return { parsed, at }
  throw new QueryError('validation-failed', {
    message: `${JSON.stringify(text)} is outside the years 0 to 9999, the range of event times. Use a date in this range.`,
    attr: `dateRange__${name}`,
  })
}

export const notADate = (text: string, attr: string): QueryError => {
  const help = 'Write 2026-01-31, 2026-01-31T08:00:00Z, or a relative time such as -7d, -24h or mStart.'
  return new QueryError('validation-failed', { message: `${JSON.stringify(text)} is not a date. ${help}`, attr })
}

function roundEnd(
  to: ParsedDate | null,
  at: Micros,
  { interval, calendar, isExplicit, isExact }: { interval: Interval; calendar: Calendar; isExplicit: boolean; isExact: boolean },
): Micros {
  if (isExplicit || (isExact && !to)) return at
  if (!isShort(interval)) return endOf('day', at, calendar) - 1
  return to?.kind === 'absolute' ? at : endOf(interval, at, calendar) - 1
}

function finish(from: Micros, to: Micros, interval: Interval, calendar: Calendar, parsed: ResolvedRange['parsed']): ResolvedRange {
  return { from, to, firstEvent: firstEvent(from, interval, calendar, parsed), interval, calendar, parsed }
}

function firstEvent(from: Micros, interval: Interval, calendar: Calendar, { from: text, isExplicit }: ResolvedRange['parsed']): Micros {
  if (isExplicit || isShort(interval)) return from
  if (interval === 'week') return startOf('day', from, calendar)
  const isInDays = text === 'all' || text.kind === 'absolute' || text.unit === null || !isShort(text.unit)
  return interval === 'day' && !isInDays ? from : startOf(interval, from, calendar)
}

/** The comparison range: the period before this one, or this one shifted back by `compareTo`. */
export function previousRange(range: ResolvedRange, compareTo: string | null | undefined): ResolvedRange {
  const { calendar, interval, parsed } = range
  const moved = (from: Micros, to: Micros) => finish(from, to, interval, calendar, parsed)
  if (compareTo) {
    const shift = parseDate(compareTo, calendar.zone)
    if (shift?.kind !== 'relative' || !shift.unit || shift.count === 0)
      throw new QueryError('validation-failed', {
        message: `${JSON.stringify(compareTo)} is not a comparison period. Write -1d, -2w, -1m or -1y.`,
        attr: 'compareFilter__compare_to',
      })
    const to = movedBack(shift.count, shift.unit, range.to, calendar)
    if (to === null)
      throw new QueryError('validation-failed', {
        message: `${JSON.stringify(compareTo)} moves the range to before the year 0, the earliest time of events. Use a shorter period.`,
        attr: 'compareFilter__compare_to',
      })
    return moved(add(shift.unit, -shift.count, range.from, calendar), to)
  }
  const length = range.to - range.from
  if (parsed.from === 'all') return moved(range.from - 1 - length, range.from - 1)
  if (interval === 'minute' || interval === 'second') return moved(range.from - length, range.from)

  // On local time, so that both periods begin and end at the same time of day.
  const { zone } = calendar
  const [from, to] = [zone.toWall(range.from), zone.toWall(range.to)]
  const weeks = wholeWeeks(range)
  const start = weeks ? addWall('day', -weeks, from) : withTimeOf(from - (to - from), from, 'day')
  const end = withTimeOf(start + (to - from), to, interval === 'hour' ? 'hour' : 'day')
  // A few hours have no matching day: the same number of hours before them is compared.
  if (interval === 'hour' && end >= from) {
    const hours = Math.ceil((to - from + 1) / hour) * hour
    return moved(range.from - hours, range.to - hours)
  }
  return moved(zone.toInstant(start), zone.toInstant(end))
}

/** "Last 7 days" covers eight days with today: only a shift by its own number of days aligns Mondays with Mondays. */
function wholeWeeks({ interval, parsed: { from, to } }: ResolvedRange): number {
  if (interval !== 'day' || from === 'all' || from.kind !== 'relative' || from.unit !== 'day' || to?.kind === 'relative') return 0
  return from.count % 7 === 0 ? from.count : 0
}

const withTimeOf = (wall: Micros, model: Micros, unit: 'hour' | 'day'): Micros =>
  startOfWall(unit, wall, 0) + (model - startOfWall(unit, model, 0))

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0')

/** `2026-01-31T08:00:00+01:00`, with microseconds if there are any. */
export function isoInstant(at: Micros, zone: Zone): string {
  const offset = zone.offsetAt(at)
  const { year, month, day: date, time } = readWall(at + offset)
  const fraction = time % second
  const minutes = Math.abs(offset) / (60 * second)
  const suffix = offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(Math.floor(minutes % 60))}`
  return `${yearText(year)}-${pad(month)}-${pad(date)}T${clock(time)}${fraction ? `.${pad(fraction, 6)}` : ''}${suffix}`
}

export function clock(time: Micros): string {
  const seconds = Math.floor(time / second)
  return `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
}
