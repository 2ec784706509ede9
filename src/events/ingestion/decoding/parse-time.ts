// Reads a moment from whatever clients send. The result is microseconds since 1970 in UTC: a number, because every year up to 9999 fits.

const iso =
  /^(\d{4}|[+-]\d{6})(?:-?(?:(\d\d)(?:-?(\d\d))?|W(\d\d)(?:-?([1-7]))?|(\d{3})))?(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i
const namesZone = /(?:Z|GMT|UTC?|[ECMP][SD]T|[+-]\d\d:?\d\d)\s*(?:\(.*\))?$/i

/** Characters of a text that can be a time: the longest that clients write have a zone by name in brackets. */
export const longestTime = 128
const dayMs = 86_400_000
/** Microseconds of the last digit of a fraction, by its number of digits. */
const fractionUnits = [0, 100_000, 10_000, 1_000, 100, 10, 1]

/** Milliseconds at the start of a day, also for the years 0 to 99, which Date.UTC would move to the 20th century. */
function dayStart(year: number, month: number, day: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime()
}

function weekStart(year: number, week: number, weekday: number): number {
  const fourth = dayStart(year, 1, 4) // always in week 1
  const isoDay = new Date(fourth).getUTCDay() || 7
  return fourth + ((week - 1) * 7 + weekday - isoDay) * dayMs
}

function offsetMs(zone: string | undefined): number {
  if (!zone || zone === 'Z' || zone === 'z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || 0)]
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

const digits = (text: string, from: number, to: number): number => {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/** What nearly all clients write, `2026-01-31T12:00:00.000Z` with 0 to 6 digits of a fraction, without a regular expression; null for everything else. */
function parseUsual(text: string): number | null {
  const end = text.length - 1
  if (end < 19 || end > 26 || end === 20 || text[end] !== 'Z' || text[10] !== 'T') return null
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':' || (end > 19 && text[19] !== '.')) return null
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)]
  if (!(year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59)) return null
  const micros = Date.UTC(year, month - 1, day, hour, minute, second) * 1000 + digits(text, 20, end) * fractionUnits[Math.max(0, end - 20)]!
  return Number.isNaN(micros) ? null : micros
}

function parseIso(text: string): number | null {
  const usual = parseUsual(text)
  if (usual !== null) return usual
  const found = iso.exec(text)
  if (!found) return null
  const [, y, mo, d, week, weekday, ordinal, h = '0', mi = '0', s = '0', fraction = '', zone] = found
  const [year, month, day, hour, minute, second] = [Number(y), Number(mo ?? 1), Number(d ?? 1), Number(h), Number(mi), Number(s)]
  if (month < 1 || month > 12 || day < 1 || day > 31 || minute > 59 || second > 59) return null
  if (hour > 24 || (hour === 24 && (minute > 0 || second > 0 || Number(fraction) > 0))) return null
  if (week !== undefined && (Number(week) < 1 || Number(week) > 53)) return null
  if (ordinal !== undefined && (Number(ordinal) < 1 || Number(ordinal) > 366)) return null
  const start =
    week !== undefined
      ? weekStart(year, Number(week), Number(weekday ?? 1))
      : ordinal !== undefined
        ? dayStart(year, 1, Number(ordinal))
        : dayStart(year, month, day)
  const ms = start + ((hour * 60 + minute) * 60 + second) * 1000 - offsetMs(zone)
  return Number.isNaN(ms) ? null : ms * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

/** Microseconds since 1970, or null when `value` is not a valid time. Times without a zone are UTC, whatever the zone of this process. */
export function parseTime(value: unknown): number | null {
  if (value instanceof Date) value = value.getTime()
  if (typeof value === 'number') {
    const ms = new Date(value).getTime()
    return Number.isNaN(ms) ? null : ms * 1000
  }
  if (typeof value !== 'string' || value.length > longestTime) return null
  const text = value.trim()
  const exact = parseIso(text)
  if (exact !== null) return exact
  const ms = Date.parse(namesZone.test(text) ? text : `${text} UTC`)
  return Number.isNaN(ms) ? null : ms * 1000
}

/** The text of a moment as clients and warnings show it. */
export const isoText = (micros: number): string => new Date(Math.floor(micros / 1000)).toISOString()
