import { type Micros, zoneOf } from '../../../lib/time/zone.ts'
import { SqlError } from '../statements/sql-error.ts'

// Constants: their text in the language, and what a text means as a value of a type.

/** A text constant of the language, where a backslash begins an escape. */
export const textOf = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '')}'`

const wrong = (type: string, text: string, offset?: number, state = '22P02'): SqlError =>
  new SqlError(state, `invalid input syntax for type ${type}: "${text.slice(0, 200)}"`, { offset })

export const wholeOf = (text: string, type: string, offset?: number): string => {
  const trimmed = text.trim()
  if (!/^[-+]?\d{1,40}$/.test(trimmed)) throw wrong(type, text, offset)
  return String(BigInt(trimmed))
}

export const numberOf = (text: string, type: string, offset?: number): string => {
  const trimmed = text.trim()
  if (/^[-+]?(?:nan|inf(?:inity)?)$/i.test(trimmed)) return `toFloat(${textOf(trimmed)})`
  if (!/^[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?$/.test(trimmed)) throw wrong(type, text, offset)
  return decimalText(trimmed)
}

/** A number that the language reads: with digits before and behind the point. */
export const decimalText = (text: string): string =>
  text
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|[eE])/, '.0')

export const truthOf = (text: string, offset?: number): string => {
  const word = text.trim().toLowerCase()
  if (['t', 'true', 'y', 'yes', 'on', '1'].includes(word)) return 'true'
  if (['f', 'false', 'n', 'no', 'off', '0'].includes(word)) return 'false'
  throw wrong('boolean', text, offset)
}

export const uuidOf = (text: string, offset?: number): string => {
  const digits = text.trim().replace(/[{}-]/g, '').toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(digits)) throw wrong('uuid', text, offset)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const timePattern =
  /^(\d{4,6})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,15}))?)?)?)? {0,2}([+-]\d{1,2}(?::?\d{2})?|[A-Za-z][A-Za-z_/+-]{0,60})?$/

export const isZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The instant at which a clock in the zone shows this time. */
export function instantOf(wall: Micros, zone: string): Micros {
  const known = zoneOf(zone)
  const first = wall - known.offsetAt(wall)
  return wall - known.offsetAt(first)
}

const offsetOf = (text: string): Micros => {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(text)!
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000_000
}

const dayMicros = 86_400_000_000

/** Microseconds since 1970 of a text, in the zone unless it names one. */
export function microsOf(
  text: string,
  { zone, now, type, offset: at }: { zone: string; now: Date; type: string; offset?: number | undefined },
): Micros {
  const word = text.trim().toLowerCase()
  const nowMicros = now.getTime() * 1000
  if (word === 'now') return nowMicros
  if (word === 'epoch') return 0
  const days = { yesterday: -1, today: 0, tomorrow: 1 }[word]
  if (days !== undefined) {
    const wall = nowMicros + zoneOf(zone).offsetAt(nowMicros)
    return instantOf(Math.floor(wall / dayMicros) * dayMicros + days * dayMicros, zone)
  }
  const found = timePattern.exec(text.trim())
  if (!found) throw wrong(type, text, at, '22007')
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', named] = found
  const millis = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  const isReal = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day) && Number(month) <= 12
  if (!isReal || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60)
    throw new SqlError('22008', `date/time field value out of range: "${text.slice(0, 200)}"`, { offset: at })
  const wall = millis * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6) || 0)
  if (named === undefined) return instantOf(wall, zone)
  if (/^[+-]/.test(named)) return wall - offsetOf(named)
  if (/^(?:z|utc|gmt)$/i.test(named)) return wall
  if (!isZone(named)) throw wrong(type, text, at, '22007')
  return instantOf(wall, named)
}

/** `2024-01-31 10:00:00.000000`, of microseconds. */
const wallText = (micros: Micros): string => {
  const whole = Math.floor(micros / 1_000_000)
  const text = new Date(whole * 1000).toISOString().slice(0, 19).replace('T', ' ')
  return `${text}.${String(micros - whole * 1_000_000).padStart(6, '0')}`
}

export const instantText = (micros: Micros): string => `toDateTime64('${wallText(micros)}', 6, 'UTC')`
export const dayText = (micros: Micros): string => `toDate('${wallText(micros).slice(0, 10)}')`

export interface Span {
  readonly months: number
  readonly days: number
  /** Microseconds. */
  readonly micros: Micros
}

const units: Readonly<Record<string, readonly [keyof Span, number]>> = {
  year: ['months', 12],
  yr: ['months', 12],
  y: ['months', 12],
  quarter: ['months', 3],
  month: ['months', 1],
  mon: ['months', 1],
  week: ['days', 7],
  w: ['days', 7],
  day: ['days', 1],
  d: ['days', 1],
  hour: ['micros', 3_600_000_000],
  hr: ['micros', 3_600_000_000],
  h: ['micros', 3_600_000_000],
  minute: ['micros', 60_000_000],
  min: ['micros', 60_000_000],
  m: ['micros', 60_000_000],
  second: ['micros', 1_000_000],
  sec: ['micros', 1_000_000],
  s: ['micros', 1_000_000],
  millisecond: ['micros', 1000],
  ms: ['micros', 1000],
  microsecond: ['micros', 1],
}

/** `1 day 02:00:00`, `2 weeks`, `-3 months`, `P1DT2H` is not read. */
export function spanOf(text: string, offset?: number): Span {
  const span = { months: 0, days: 0, micros: 0 }
  const rest = text
    .toLowerCase()
    .replace(/([-+]?)(\d{1,9}):(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?/g, (_, sign, hours, minutes, seconds = '0') => {
      span.micros += (sign === '-' ? -1 : 1) * Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1_000_000)
      return ' '
    })
    .replace(/([-+]?\d{1,15}(?:\.\d{1,9})?)\s*([a-z]{1,20})/g, (_, number, word) => {
      const unit = units[word] ?? units[word.replace(/s$/, '')]
      if (!unit) throw wrong('interval', text, offset, '22007')
      const value = Number(number) * unit[1]
      const whole = unit[0] === 'micros' ? Math.round(value) : Math.trunc(value)
      span[unit[0]] += whole
      if (unit[0] === 'days') span.micros += Math.round((value - whole) * dayMicros)
      return ' '
    })
    .trim()
  if (/^[-+]?\d{1,15}$/.test(rest)) span.micros += Number(rest) * 1_000_000
  else if (rest !== '') throw wrong('interval', text, offset, '22007')
  return span
}
