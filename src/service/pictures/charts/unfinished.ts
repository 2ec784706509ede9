import { zoneText } from '../zone-text.ts'

/** Characters of a time that name its interval: `2026-01`, `2026-01-05`, `2026-01-05 11`. */
const named: Readonly<Record<string, number>> = { second: 19, minute: 16, hour: 13, day: 10, month: 7 }

/** The interval of an answer. Of a dashboard whose dates have another one than the query it is seen from the beginnings: `2026-01-05 11:30:00`. */
export function intervalOf(stated: string, begins: readonly string[]): string {
  const isShort = begins[0] !== undefined && begins[0].length > 10
  if (!isShort || ['second', 'minute', 'hour'].includes(stated)) return stated || 'day'
  return begins.every((begin) => begin.slice(14, 19) === '00:00') ? 'hour' : 'minute'
}

const dayAfter = (day: string, count: number) =>
  new Date(Date.parse(`${day.slice(0, 10)}T00:00:00Z`) + count * 86_400_000).toISOString().slice(0, 10)

/** How many intervals at the end had not ended when the answer was computed. Their beginnings are written on the clock of the project. */
export function unfinishedOf(begins: readonly string[], interval: string, computed: string, timezone: string): number {
  const at = Date.parse(computed)
  if (Number.isNaN(at)) return 0
  const now = zoneText(new Date(at), timezone)
  const length = named[interval]
  const hasEnded = (begin: string) =>
    interval === 'week' ? now.slice(0, 10) >= dayAfter(begin, 7) : length === undefined || begin.slice(0, length) < now.slice(0, length)
  return begins.length - 1 - begins.findLastIndex(hasEnded)
}
