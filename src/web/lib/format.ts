import { cellText, durationText, numberText, percentages, timeText } from '../../service/pictures/format.ts'

// How all pages write numbers and times (`test/web/lib/format.test.ts`).

export { cellText, durationText, numberText }

/** `12.5%` of a share; `–`: a share of nothing. */
export const shareText = (share: number | null): string =>
  share === null || !Number.isFinite(share) ? '–' : numberText(share * 100, { ...percentages, decimals: 1 })

/** A share in percent, without what binary fractions add to it. */
export const inPercent = (share: number): number => Number((share * 100).toPrecision(12))

/** The change to what was before, without its sign: `6.1%`, from ten percent on without decimals. */
export const changeOf = (now: number, before: number): string => {
  const share = Math.abs(now - before) / Math.abs(before)
  return numberText(share * 100, { ...percentages, decimals: share < 0.1 ? 1 : 0 })
}

const dates = {
  day: { day: 'numeric', month: 'short' },
  dayOfYear: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  weekday: { weekday: 'long' },
  shortWeekday: { weekday: 'short' },
  today: { weekday: 'long', day: 'numeric', month: 'long' },
  whole: { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  clock: { hour: '2-digit', minute: '2-digit' },
  hour: { hour: 'numeric', hourCycle: 'h23' },
  exact: { dateStyle: 'short', timeStyle: 'medium' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>
export type DateStyle = keyof typeof dates
const formatters = new Map<string, Intl.DateTimeFormat>()

/** A time as a calendar says it: `5 Jan 2026`. */
export function dateText(at: Date | number | string, style: DateStyle, timezone = 'UTC'): string {
  const key = `${style} ${timezone}`
  const known =
    formatters.get(key) ?? new Intl.DateTimeFormat(style === 'exact' ? 'sv-SE' : 'en-GB', { ...dates[style], timeZone: timezone })
  formatters.set(key, known)
  return known.format(typeof at === 'string' ? new Date(at) : at)
}

/** `1 row`, `2 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${numberText(count)} ${count === 1 ? one : many}`

/** `2026-01-05 11:00` in the zone of the project. */
export const momentText = (value: string | null | undefined, timezone: string): string =>
  value ? (timeText(new Date(value), timezone) ?? value) : '–'

export function agoText(value: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(value)) / 1000))
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A text as a constant of our SQL. */
export const sqlText = (text: string): string => `'${text.replace(/[\\']/g, (found) => `\\${found}`)}'`
