import { zoneOf } from '../../lib/time/zone.ts'

// Times that a person types are on the clock of the project, whatever the clock of the browser is.

/** `2026-03-01T12:00` as an instant. A time that the clock skipped is moved forward, one that it showed twice is the first. */
export function instantOf(typed: string, timezone: string): string {
  const wall = Date.parse(`${typed}Z`)
  if (Number.isNaN(wall)) throw new Error(`Expected a date and a time, such as 2026-03-01T12:00, but got ${typed}.`)
  return new Date(zoneOf(timezone).toInstant(wall * 1000) / 1000).toISOString()
}

/** The text of an instant for a field of type `datetime-local`, to the minute. */
export const typedText = (instant: string | number, timezone: string): string =>
  new Date(zoneOf(timezone).toWall(new Date(instant).getTime() * 1000) / 1000).toISOString().slice(0, 16)

/** The calendar day `daysAgo` days before today. */
export function dayOf(daysAgo: number, timezone: string, now = Date.now()): string {
  const today = Date.parse(`${typedText(now, timezone).slice(0, 10)}T00:00Z`)
  return new Date(today - daysAgo * 86_400_000).toISOString().slice(0, 10)
}
