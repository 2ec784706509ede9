import { clampDay, daysInMonth, readWall, weekday, writeWall } from '../../lib/time/calendar.ts'
import { day, type Micros, zoneOf } from '../../lib/time/zone.ts'

// When a subscription is due. Pure: times are UTC milliseconds; the local time of day of the first one stays when clocks change.

export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const
export type Frequency = (typeof frequencies)[number]
export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
export type Weekday = (typeof weekdays)[number]

export interface Recurrence {
  readonly frequency: Frequency
  /** Every so many days, weeks, months or years. */
  readonly interval: number
  /** Of a week, a month or a year: on all of these days. Null: on the day of the start. */
  readonly weekdays: readonly Weekday[] | null
  /** Only the nth of those days; below zero from the end. */
  readonly position: number | null
  /** The number of occurrences. */
  readonly count: number | null
  readonly start: number
  readonly until: number | null
  readonly timezone: string
}

/** The first moment of a period, `steps` after that of the start. */
function period({ frequency, interval }: Recurrence, start: Micros, steps: number): Micros {
  const { year, month, day: date } = readWall(start)
  const step = steps * interval
  switch (frequency) {
    case 'daily':
      return writeWall({ year, month, day: date + step, time: 0 })
    case 'weekly':
      return writeWall({ year, month, day: date - ((weekday(start) + 6) % 7) + 7 * step, time: 0 })
    case 'monthly':
      return writeWall({ year, month: month + step, day: 1, time: 0 })
    case 'yearly':
      return writeWall({ year: year + step, month: 1, day: 1, time: 0 })
  }
}

const daysOf = (frequency: Frequency, first: Micros): number => {
  const { year, month } = readWall(first)
  if (frequency === 'daily') return 1
  if (frequency === 'weekly') return 7
  return frequency === 'monthly' ? daysInMonth(year, month) : daysInMonth(year, 2) + 337
}

/** The days of one period. A day that a month does not have is its last. */
function candidates(rule: Recurrence, start: Micros, first: Micros): readonly Micros[] {
  const { frequency, weekdays: wanted, position } = rule
  const { month, day: date } = readWall(start)
  const { year, month: current } = readWall(first)
  const all = Array.from({ length: daysOf(frequency, first) }, (_, i) => first + i * day)
  const days =
    wanted !== null
      ? all.filter((wall) => wanted.includes(weekdays[weekday(wall)]!))
      : frequency === 'daily'
        ? all
        : frequency === 'weekly'
          ? all.filter((wall) => weekday(wall) === weekday(start))
          : [writeWall(clampDay({ year, month: frequency === 'monthly' ? current : month, day: date, time: 0 }))]
  if (position === null) return days
  const chosen = days[position > 0 ? position - 1 : days.length + position]
  return chosen === undefined ? [] : [chosen]
}

/** What is not due within 40 years is never due. */
const horizon = 40 * 366 * day
const approximate: Readonly<Record<Frequency, number>> = { daily: day, weekly: 7 * day, monthly: 31 * day, yearly: 366 * day }

/** The first due time after a time; null if there is none. */
export function nextOccurrence(rule: Recurrence, after: number): number | null {
  const zone = zoneOf(rule.timezone)
  const start = zone.toWall(rule.start * 1000)
  const { time } = readWall(start)
  const wall = zone.toWall(after * 1000)
  // Occurrences are counted from the first; without a count the search begins shortly before the time.
  const skipped = rule.count === null ? Math.max(0, Math.floor((wall - start) / (approximate[rule.frequency] * rule.interval)) - 1) : 0
  const end = Math.max(start, wall) + horizon
  let found = 0
  for (let steps = skipped; ; steps++) {
    const first = period(rule, start, steps)
    if (!(first <= end)) return null
    for (const date of candidates(rule, start, first)) {
      if (date + time < start) continue
      found++
      if (rule.count !== null && found > rule.count) return null
      const instant = Math.ceil(zone.toInstant(date + time) / 1000)
      if (rule.until !== null && instant > rule.until) return null
      if (instant > after) return instant
    }
  }
}

const ordinals: Readonly<Record<number, string>> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', [-1]: 'last' }
const units: Readonly<Record<Frequency, string>> = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' }

/** `every 2 weeks on monday, friday`. */
export function summaryOf({
  frequency,
  interval,
  weekdays: days,
  position,
}: Pick<Recurrence, 'frequency' | 'interval' | 'weekdays' | 'position'>): string {
  const every = interval === 1 ? `every ${units[frequency]}` : `every ${interval} ${units[frequency]}s`
  if (days === null) return every
  const which = position === null ? '' : `the ${ordinals[position] ?? `${position}th`} `
  return `${every} on ${which}${days.join(', ')}`
}
