import { zoneOf } from '../../lib/time/zone.ts'
import { dateText } from '../lib/format.ts'
import type { Option } from '../lib/option.ts'
import { addDays, isDay } from './calendar.ts'

// Ranges of dates as queries have them, and how they read.

export interface Range {
  readonly from: string
  readonly to: string
}

interface Preset extends Option {
  /** Of a range that ends before now. */
  readonly to?: string
}

export const presets: readonly Preset[] = [
  { value: '-1h', label: 'Last hour' },
  { value: '-24h', label: 'Last 24 hours' },
  { value: 'dStart', label: 'Today' },
  { value: '-1dStart', to: '-1dEnd', label: 'Yesterday' },
  { value: '-7d', label: 'Last 7 days' },
  { value: '-14d', label: 'Last 14 days' },
  { value: '-30d', label: 'Last 30 days' },
  { value: '-90d', label: 'Last 90 days' },
  { value: '-180d', label: 'Last 180 days' },
  { value: '-12m', label: 'Last 12 months' },
  { value: 'wStart', label: 'This week' },
  { value: '-1wStart', to: '-1wEnd', label: 'Last week' },
  { value: 'mStart', label: 'This month' },
  { value: '-1mStart', to: '-1mEnd', label: 'Last month' },
  { value: 'qStart', label: 'This quarter' },
  { value: 'yStart', label: 'This year' },
  { value: 'all', label: 'All time' },
]

const unitNames = { h: 'hour', d: 'day', w: 'week', m: 'month', y: 'year' } as const
type Unit = keyof typeof unitNames
export const rollingUnits: readonly Option[] = Object.entries(unitNames).map(([value, name]) => ({ value, label: `${name}s` }))

export interface Rolling {
  readonly count: number
  readonly unit: Unit
}
const isUnit = (text: string | undefined): text is Unit => text !== undefined && Object.hasOwn(unitNames, text)

/** `-45d` without an end. */
export function rollingOf({ from, to }: Range): Rolling | null {
  const [, count, unit] = /^-(\d{1,4})([hdwmy])$/.exec(from) ?? []
  return to === '' && isUnit(unit) ? { count: Number(count), unit } : null
}

export const presetOf = ({ from, to }: Range): Preset | undefined => presets.find((one) => one.value === from && (one.to ?? '') === to)

const dayText = (day: string): string => dateText(Date.parse(`${day}T00:00Z`), 'dayOfYear')

/** `5 Jan 2026`, or `5 Jan 2026, 14:00` where there is a time of day. Null: it is not a date. */
function momentOf(text: string, timezone: string): string | null {
  if (isDay(text)) return dayText(text)
  if (!/^\d{4}-\d{2}-\d{2}[T ]/.test(text) || Number.isNaN(Date.parse(text))) return null
  const isInstant = /(Z|[+-]\d{2}:?\d{2})$/i.test(text)
  const wall = isInstant ? zoneOf(timezone).toWall(Date.parse(text) * 1000) / 1000 : Date.parse(`${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(wall)) return null
  const [day = '', time = ''] = new Date(wall).toISOString().split('T')
  return `${dayText(day)}, ${time.slice(0, 5)}`
}

/** The last day is whole: by hours its end is written out. */
const lastMoment = 'T23:59:59.999999'
const isShort = (interval: string): boolean => interval === 'hour' || interval === 'minute' || interval === 'second'

/** The end of a range as an interval needs it: by hours, a day alone would be its first moment. */
export function endFor(interval: string, to: string): string {
  const day = to.endsWith(lastMoment) ? to.slice(0, -lastMoment.length) : to
  return isDay(day) && isShort(interval) ? `${day}${lastMoment}` : day
}

export function rangeText({ from, to }: Range, timezone: string): string {
  const known = presetOf({ from, to })
  if (known) return known.label
  const rolling = rollingOf({ from, to })
  if (rolling) return rolling.count === 1 ? `Last ${unitNames[rolling.unit]}` : `Last ${rolling.count} ${unitNames[rolling.unit]}s`
  const [end, start] = [endFor('day', to), momentOf(from, timezone)]
  if (end === '') return start === null ? from : `Since ${start}`
  if (isDay(from) && isDay(end)) {
    if (from === end) return dayText(from)
    return from.slice(0, 4) === end.slice(0, 4)
      ? `${dateText(Date.parse(`${from}T00:00Z`), 'day')} – ${dayText(end)}`
      : `${dayText(from)} – ${dayText(end)}`
  }
  return `${presetOf({ from, to: '' })?.label ?? start ?? from} – ${momentOf(end, timezone) ?? end}`
}

const weekDays = 7

/** The days that the calendar marks. Null: it cannot say. */
export function daysOf({ from, to }: Range, today: string): readonly [first: string, last: string] | null {
  const first = from.slice(0, 10)
  const last = to === '' ? today : to.slice(0, 10)
  if (isDay(first) && isDay(last)) return [first, last]
  const rolling = rollingOf({ from, to })
  if (from === 'dStart' && to === '') return [today, today]
  if (from === '-1dStart') return [addDays(today, -1), addDays(today, -1)]
  if (rolling?.unit === 'd') return [addDays(today, -rolling.count), today]
  if (rolling?.unit === 'w') return [addDays(today, -weekDays * rolling.count), today]
  if (from === 'mStart' && to === '') return [`${today.slice(0, 7)}-01`, today]
  if (from === 'yStart' && to === '') return [`${today.slice(0, 4)}-01-01`, today]
  return null
}
