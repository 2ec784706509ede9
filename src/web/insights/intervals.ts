import { firstOfWeek } from '../dates/calendar.ts'
import { dayOf } from '../lib/moments.ts'

// How long the intervals of a range are, so that it has more than one of them, and not thousands.

const daysIn = { minute: 1 / 1440, hour: 1 / 24, day: 1, week: 7, month: 30, quarter: 91, year: 365 } as const
type Known = keyof typeof daysIn
const known = Object.keys(daysIn) as readonly Known[]
const daysOfUnit: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30, y: 365 }

const [fewest, enough, usual, most] = [2, 4, 200, 750]
const dayMs = 86_400_000

/** Null: it is not known here. */
export function daysOfRange(from: string, to: string, timezone: string, weekStart: 0 | 1 = 0): number | null {
  const [, count, unit] = /^-(\d{1,6})([hdwmy])$/.exec(from) ?? []
  if (unit) return Number(count) * daysOfUnit[unit]!
  const today = dayOf(0, timezone)
  const since = (day: string) => 1 + (Date.parse(today) - Date.parse(day)) / dayMs
  const month = Number(today.slice(5, 7))
  switch (from) {
    case '':
      return 7
    case 'dStart':
    case '-1dStart':
      return 1
    case 'wStart':
      return since(firstOfWeek(today, weekStart))
    case '-1wStart':
      return 7
    case 'mStart':
      return Number(today.slice(8, 10))
    case '-1mStart':
      return 30
    case 'qStart':
      return since(`${today.slice(0, 4)}-${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`)
    case 'yStart':
      return since(`${today.slice(0, 4)}-01-01`)
  }
  if (!/^\d{4}-\d{2}-\d{2}/.test(from)) return null
  const first = Date.parse(from.slice(0, 10))
  const last = Date.parse((/^\d{4}-\d{2}-\d{2}/.test(to) ? to : today).slice(0, 10))
  return Number.isNaN(first) || Number.isNaN(last) ? null : Math.max(1, 1 + (last - first) / dayMs)
}

/** The given interval, unless a range of so many days has less than two of them, or far too many to draw. */
export function fittingInterval(interval: string, days: number | null): string {
  const length = (daysIn as Readonly<Record<string, number>>)[interval]
  if (days === null || length === undefined) return interval
  // Rounding: 60 minutes are an hour.
  const count = (of: Known) => days / daysIn[of] + 1e-6
  if (days / length + 1e-6 < fewest) return known.findLast((one) => count(one) >= enough) ?? 'minute'
  if (days / length > most) return known.find((one) => count(one) <= usual) ?? 'year'
  return interval
}

/** From how many days on an interval is the one that a range is shown by. */
const natural: readonly (readonly [days: number, interval: Known])[] = [
  [5 * 365, 'quarter'],
  [360, 'month'],
  [120, 'week'],
  [2, 'day'],
  [0.2, 'hour'],
]
export const naturalInterval = (days: number): Known => natural.find(([from]) => days + 1e-6 >= from)?.[1] ?? 'minute'

/** After a change of the range: an interval that was the natural one follows, any other was chosen and holds as long as it fits. */
export function nextInterval(interval: string, before: number | null, after: number | null): string {
  const follows = before !== null && after !== null && interval === naturalInterval(before)
  return follows ? naturalInterval(after) : fittingInterval(interval, after)
}
