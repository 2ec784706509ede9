import { type Zone, zoneOf } from '../../../lib/time/zone.ts'
import { timeOf } from '../record.ts'

// Times and numbers as the cells of a table write them.

export const timeFormats = ['iso', 'DD.MM.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY', 'YYYY/MM/DD', 'seconds', 'milliseconds'] as const
export type TimeFormat = (typeof timeFormats)[number]

/** How 1234.56 is written. */
export const numberFormats = ['1234.56', '1,234.56', '1234,56', '1.234,56', '1 234,56', "1'234.56"] as const
export type NumberFormat = (typeof numberFormats)[number]

export interface CellFormats {
  /** Absent: what a time looks like. */
  readonly time?: TimeFormat
  /** Of times that name none; default: UTC. */
  readonly timezone?: string
  /** Absent: texts stay texts. */
  readonly numbers?: NumberFormat
}

const dates: Readonly<Record<Exclude<TimeFormat, 'seconds' | 'milliseconds'>, RegExp>> = {
  iso: /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/,
  'YYYY/MM/DD': /^(?<year>\d{4})\/(?<month>\d{1,2})\/(?<day>\d{1,2})/,
  'DD.MM.YYYY': /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})/,
  'DD/MM/YYYY': /^(?<day>\d{1,2})\/(?<month>\d{1,2})\/(?<year>\d{4})/,
  'MM/DD/YYYY': /^(?<month>\d{1,2})\/(?<day>\d{1,2})\/(?<year>\d{4})/,
}
const timeOfDay =
  /^(?:(?:T|,? )(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<part>\d{1,6})\d*)?)?(?: ?(?<half>[AaPp])\.?[Mm]\.?)?)? ?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?$/
const number = /^-?\d+(\.\d+)?$/
const dayMs = 86_400_000

const offsetMs = (zone: string): number => {
  if (zone === 'Z') return 0
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone)!
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

/** Null: there is no such time of day. */
function msOfDay({
  hour = '0',
  minute = '0',
  second = '0',
  part = '0',
  half,
}: Readonly<Record<string, string | undefined>>): number | null {
  const [h, m, s] = [Number(hour), Number(minute), Number(second)]
  if (h > 23 || m > 59 || s > 59 || (half !== undefined && (h === 0 || h > 12))) return null
  const hours = half === undefined ? h : (h % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return ((hours * 60 + m) * 60 + s) * 1000 + Math.floor(Number(part.padEnd(6, '0').slice(0, 6)) / 1000)
}

/** Milliseconds of a calendar time; null: there is no such day. */
function wallMs(text: string, format: keyof typeof dates): { readonly ms: number; readonly zone: string | undefined } | null {
  const date = dates[format].exec(text)
  const rest = date && timeOfDay.exec(text.slice(date[0].length))
  if (!rest) return null
  const [year, month, day] = [date.groups!.year, date.groups!.month, date.groups!.day].map(Number) as [number, number, number]
  const ms = Date.UTC(year, month - 1, day)
  const isDay = month >= 1 && month <= 12 && day >= 1 && new Date(ms).getUTCDate() === day
  const ofDay = msOfDay(rest.groups!)
  return isDay && ofDay !== null && ofDay < dayMs ? { ms: ms + ofDay, zone: rest.groups!.zone } : null
}

const isoOf = (ms: number): string | null => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null)

/** A time as ISO text; null: it is not written like that. */
export function timeOfCell(value: unknown, format: TimeFormat, zone: Zone): string | null {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' || typeof value === 'bigint' ? String(value) : ''
  if (format === 'seconds' || format === 'milliseconds')
    return number.test(text) ? isoOf(Math.round(Number(text) * (format === 'seconds' ? 1000 : 1))) : null
  const wall = wallMs(text, format)
  if (!wall) return null
  return isoOf(wall.zone === undefined ? zone.toInstant(wall.ms * 1000) / 1000 : wall.ms - offsetMs(wall.zone))
}

/** Thousands are in groups of three, or all together. */
const numbers: Readonly<Record<NumberFormat, { readonly shape: RegExp; readonly thousands: RegExp | null; readonly decimal: string }>> = {
  '1234.56': { shape: /^-?\d+(?:\.\d+)?$/, thousands: null, decimal: '.' },
  '1,234.56': { shape: /^-?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?$/, thousands: /,/g, decimal: '.' },
  '1234,56': { shape: /^-?\d+(?:,\d+)?$/, thousands: null, decimal: ',' },
  '1.234,56': { shape: /^-?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?$/, thousands: /\./g, decimal: ',' },
  '1 234,56': { shape: /^-?(?:[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+|\d+)(?:,\d+)?$/, thousands: /[ \u00a0\u202f]/g, decimal: ',' },
  "1'234.56": { shape: /^-?(?:[1-9]\d{0,2}(?:['’]\d{3})+|\d+)(?:\.\d+)?$/, thousands: /['’]/g, decimal: '.' },
}
/** Such texts are codes, as of a post office: a number would lose the zero. */
const isCode = (text: string): boolean => /^-?0\d/.test(text)
const mostDigits = 15

/** A number of a text; null: it stays a text. */
export function numberOfCell(text: string, format: NumberFormat): number | null {
  const { shape, thousands, decimal } = numbers[format]
  const trimmed = text.trim()
  if (!shape.test(trimmed) || isCode(trimmed) || trimmed.replace(/\D/g, '').length > mostDigits) return null
  return Number((thousands ? trimmed.replace(thousands, '') : trimmed).replace(decimal, '.'))
}

export interface CellReader {
  /** Null: times are read as what they look like. */
  readonly time: ((value: unknown) => string | null) | null
  value(cell: unknown): unknown
}

export function cellReader({ time, timezone = 'UTC', numbers: format }: CellFormats): CellReader {
  const zone = zoneOf(timezone)
  const chosen = time ?? (timezone === 'UTC' ? null : 'iso')
  return {
    time: chosen && ((value) => timeOfCell(value, chosen, zone)),
    value: format ? (cell) => (typeof cell === 'string' ? (numberOfCell(cell, format) ?? cell) : cell) : (cell) => cell,
  }
}

const utc = zoneOf('UTC')
const texts = (values: readonly unknown[]): string[] => values.map(String).filter((value) => value.trim() !== '')

/** The format of most of these times; null: none of these, and what they look like decides. */
export function guessTimeFormat(values: readonly unknown[]): TimeFormat | null {
  const found = texts(values)
  if (found.length === 0) return null
  const numbers = found.filter((value) => number.test(value.trim())).map((value) => Math.abs(Number(value)))
  if (numbers.length > found.length / 2)
    return numbers.every((value) => value >= 1e11) ? 'milliseconds' : numbers.every((value) => value >= 1e8) ? 'seconds' : null
  // 03/04 is the fourth of March unless another row says otherwise.
  const counts = (['iso', 'YYYY/MM/DD', 'DD.MM.YYYY', 'MM/DD/YYYY', 'DD/MM/YYYY'] as const).map((format) => ({
    format,
    count: found.filter((value) => timeOfCell(value, format, utc) !== null).length,
  }))
  const best = counts.reduce((a, b) => (b.count > a.count ? b : a))
  return best.count > found.length / 2 && best.count >= found.filter((value) => timeOf(value) !== null).length ? best.format : null
}

/** The format of numbers that is not the plain one; null: none is seen, and texts can stay as they are. */
export function guessNumberFormat(columns: readonly (readonly unknown[])[]): NumberFormat | null {
  const seen = columns.map(texts).filter((values) => values.length > 0)
  const ofColumn = (values: readonly string[]): NumberFormat | null => {
    const isAll = (format: NumberFormat) => values.every((value) => numberOfCell(value, format) !== null || isCode(value))
    if (isAll('1234.56')) return null
    return numberFormats.slice(1).find((format) => isAll(format) && values.some((value) => isTelling(value, format))) ?? null
  }
  const guesses = seen.flatMap((values) => ofColumn(values) ?? [])
  // A column with both signs says more than one with decimals only.
  return guesses.sort((a, b) => b.length - a.length)[0] ?? null
}

/** `1,234` may be either: as thousands it counts only in groups of three. */
const isTelling = (value: string, format: NumberFormat): boolean => {
  const { thousands, decimal } = numbers[format]
  return (thousands !== null && value.search(thousands) >= 0) || (decimal === ',' && value.includes(','))
}
