import { zoneText } from './zone-text.ts'

// Numbers and times as people read them.

export interface NumberFormat {
  readonly style: 'numeric' | 'percentage' | 'percentage_scaled' | 'duration' | 'duration_ms' | 'short'
  readonly prefix: string
  readonly postfix: string
  readonly decimals: number | null
}
export const plainNumbers: NumberFormat = { style: 'numeric', prefix: '', postfix: '', decimals: null }
export const percentages: NumberFormat = { ...plainNumbers, style: 'percentage' }

const withDecimals = (most: number) => new Intl.NumberFormat('en-US', { maximumFractionDigits: most })
const whole = withDecimals(0)
const one = withDecimals(1)
const two = withDecimals(2)
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

const huge = 1e15

const plain = (value: number, decimals: number | null): string => {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= huge || (value !== 0 && Math.abs(value) < 0.005 && decimals === null)) return value.toPrecision(3)
  return (decimals === null ? two : withDecimals(Math.min(10, Math.max(0, Math.trunc(decimals))))).format(value)
}

const units: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
]

/** The two largest units: `1d 4h`, `3m 20s`, `0.5s`. */
export function durationText(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  if (seconds < 0) return `-${durationText(-seconds)}`
  if (seconds >= 1e12) return `${plain(seconds / 86_400, 0)}d`
  if (seconds < 60) return `${one.format(seconds)}s`
  const rounded =
    seconds >= 86_400 ? Math.round(seconds / 3600) * 3600 : seconds >= 3600 ? Math.round(seconds / 60) * 60 : Math.round(seconds)
  let rest = rounded
  const parts: string[] = []
  for (const [size, name] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${whole.format(count)}${name}`)
  }
  if (rest > 0) parts.push(`${rest}s`)
  return parts.slice(0, 2).join(' ')
}

export function numberText(value: number | null, format: NumberFormat = plainNumbers): string {
  if (value === null || !Number.isFinite(value)) return '–'
  const { style, decimals, prefix, postfix } = format
  const text =
    style === 'percentage'
      ? `${plain(value, decimals)}%`
      : style === 'percentage_scaled'
        ? `${plain(value * 100, decimals)}%`
        : style === 'duration'
          ? durationText(value)
          : style === 'duration_ms'
            ? durationText(value / 1000)
            : style === 'short'
              ? compact.format(value)
              : plain(value, decimals)
  return `${prefix}${text}${postfix}`
}

/** For an axis: 12.5K. */
export const axisText = (value: number, format: NumberFormat = plainNumbers): string =>
  format.style === 'numeric' && Math.abs(value) >= 10_000 && Math.abs(value) < huge
    ? `${format.prefix}${compact.format(value)}${format.postfix}`
    : numberText(value, format)

const instant = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/

/** A value of a table. Times with an offset are told in the zone of the project. */
export function cellText(value: unknown, timezone: string): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'string') return instant.test(value) ? (timeText(value, timezone) ?? value) : value
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return JSON.stringify(value) ?? ''
}

/** `2026-01-05 11:00` in the zone; null if it is not a time. */
export function timeText(value: string | Date, timezone: string): string | null {
  const date = typeof value === 'string' ? new Date(value) : value
  return Number.isNaN(date.getTime()) ? null : zoneText(date, timezone)
}
