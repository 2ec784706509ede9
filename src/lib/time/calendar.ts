import { day, hour, type Micros, minute, second, type Zone, zoneOf } from './zone.ts'

// Calendar arithmetic on local time: a day is a date, not 24 hours.

export const intervals = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type Interval = (typeof intervals)[number]

export interface Calendar {
  readonly zone: Zone
  /** 0 Sunday, 1 Monday */
  readonly weekStartDay: 0 | 1
}

export const calendarOf = (settings: { readonly timezone: string; readonly weekStartDay: 0 | 1 }): Calendar => ({
  zone: zoneOf(settings.timezone),
  weekStartDay: settings.weekStartDay,
})

/** A local date and the time of day in microseconds. `month` counts from 1. */
export interface WallTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly time: Micros
}

const floorTo = (value: number, unit: number): number => Math.floor(value / unit) * unit

export function readWall(wall: Micros): WallTime {
  const midnight = floorTo(wall, day)
  const date = new Date(midnight / 1000)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), time: wall - midnight }
}
export const writeWall = ({ year, month, day: dayOfMonth, time }: WallTime): Micros =>
  new Date(0).setUTCFullYear(year, month - 1, dayOfMonth) * 1000 + time

/** Times of events are in the years 0 to 9999: from the first moment on, before the last one. */
export const firstMoment = writeWall({ year: 0, month: 1, day: 1, time: 0 })
export const lastMoment = writeWall({ year: 10_000, month: 1, day: 1, time: 0 })

/** As in ISO 8601: four digits, or a sign and six. */
export const yearText = (year: number): string => {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0')
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`
}

export function daysInMonth(year: number, month: number): number {
  const last = new Date(0)
  last.setUTCFullYear(year, month, 0)
  return last.getUTCDate()
}

/** Days after the end of the month become its last day. */
export const clampDay = (wall: WallTime): WallTime => ({ ...wall, day: Math.min(wall.day, daysInMonth(wall.year, wall.month)) })

/** 0 Sunday to 6 Saturday. */
export const weekday = (wall: Micros): number => (((Math.floor(wall / day) + 4) % 7) + 7) % 7

const fixed: Partial<Record<Interval, Micros>> = { second, minute, hour }

export function startOfWall(interval: Interval, wall: Micros, weekStartDay: 0 | 1): Micros {
  const unit = fixed[interval]
  if (unit) return floorTo(wall, unit)
  const midnight = floorTo(wall, day)
  if (interval === 'day') return midnight
  if (interval === 'week') return midnight - ((weekday(midnight) - weekStartDay + 7) % 7) * day
  const { year, month } = readWall(wall)
  const first = interval === 'month' ? month : interval === 'quarter' ? month - ((month - 1) % 3) : 1
  return writeWall({ year, month: first, day: 1, time: 0 })
}

export function startOf(interval: Interval, at: Micros, { zone, weekStartDay }: Calendar): Micros {
  if (!fixed[interval]) return zone.toInstant(startOfWall(interval, zone.toWall(at), weekStartDay))
  // A repeated hour counts as two hours: stay on the same side of the offset change.
  const offset = zone.offsetAt(at)
  const start = startOfWall(interval, at + offset, weekStartDay) - offset
  const change = zone.changes(start, at).at(-1)
  return change ? Math.max(start, change.at) : start
}

/** The first instant after the interval that holds `at`. */
export function endOf(interval: Interval, at: Micros, calendar: Calendar): Micros {
  const { zone, weekStartDay } = calendar
  const unit = fixed[interval]
  if (!unit) return zone.toInstant(addWall(interval, 1, startOfWall(interval, zone.toWall(at), weekStartDay)))
  const start = startOf(interval, at, calendar)
  const change = zone.changes(start, start + unit).find((c) => startOf(interval, c.at, calendar) !== start)
  return change ? change.at : startOf(interval, start + unit, calendar)
}

const monthsOf: Partial<Record<Interval, number>> = { month: 1, quarter: 3, year: 12 }

export function addWall(interval: Interval, count: number, wall: Micros): Micros {
  const months = monthsOf[interval]
  if (months === undefined) return wall + count * (fixed[interval] ?? (interval === 'week' ? 7 * day : day))
  const parts = readWall(wall)
  const monthIndex = parts.year * 12 + parts.month - 1 + count * months
  return writeWall(clampDay({ ...parts, year: Math.floor(monthIndex / 12), month: (((monthIndex % 12) + 12) % 12) + 1 }))
}

/** Seconds, minutes and hours are durations; days and longer units keep the time of day. */
export const add = (interval: Interval, count: number, at: Micros, { zone }: Calendar): Micros =>
  fixed[interval] ? at + count * fixed[interval]! : zone.toInstant(addWall(interval, count, zone.toWall(at)))
