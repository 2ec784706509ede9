import { createHash } from 'node:crypto'
import { startOfWall, weekday } from '../../lib/time/calendar.ts'
import { day, hour, type Micros, zoneOf } from '../../lib/time/zone.ts'

// When an alert is checked. Pure: times are UTC milliseconds, and days are those of the project's time zone.

export const checkIntervals = ['hourly', 'daily', 'weekly', 'monthly'] as const
export type CheckInterval = (typeof checkIntervals)[number]

/** Local hours, early enough that the numbers are there in the morning. */
const starts = {
  daily: { unit: 'day', at: hour },
  weekly: { unit: 'week', at: 3 * hour },
  monthly: { unit: 'month', at: 4 * hour },
} as const

const longestJitter = 5 * 60_000

/** The same for all checks of an alert, so that the alerts of a server are spread. */
export const jitterOf = (id: string): number => {
  const share = createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32
  return Math.floor(share * longestJitter)
}

export interface CheckTimes {
  readonly id: string
  readonly interval: CheckInterval
  readonly skipsWeekends: boolean
  readonly timezone: string
}

const isWeekend = (wall: Micros) => weekday(wall) === 0 || weekday(wall) === 6

/** The first due time after a time. Hours follow each other also where clocks change. */
export function nextCheck({ id, interval, skipsWeekends, timezone }: CheckTimes, after: number): number {
  const zone = zoneOf(timezone)
  const jitter = jitterOf(id)
  const from = (after - jitter) * 1000
  /** The boundary after an instant. */
  const boundary = (at: Micros): Micros => {
    if (interval === 'hourly') return (Math.floor(at / hour) + 1) * hour
    const { unit, at: offset } = starts[interval]
    const first = startOfWall(unit, zone.toWall(at) - offset, 1)
    for (let next = first; ; next = startOfWall(unit, next + (unit === 'month' ? 32 : unit === 'week' ? 7 : 1) * day, 1)) {
      const instant = zone.toInstant(next + offset)
      if (instant > at) return instant
    }
  }
  let next = boundary(from)
  // Longer intervals have one check each, on whatever day it is.
  if (skipsWeekends && (interval === 'hourly' || interval === 'daily')) while (isWeekend(zone.toWall(next))) next = boundary(next)
  return Math.ceil(next / 1000) + jitter
}
