import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import type { Chart } from '../../service/pictures/chart.ts'
import { zoneText } from '../../service/pictures/zone-text.ts'
import { instantOf } from '../lib/moments.ts'

// Which interval of a chart a time belongs to. Intervals begin on the clock of the project.

export type TimeChart = Extract<Chart, { kind: 'lines' | 'bars' | 'boxes' }>

/** `2026-01-05 00:00:00`: texts that are compared as times are. */
const whole = (text: string): string => `${text.replace('T', ' ')}${' 00:00:00'.slice(Math.max(0, text.length - 10))}`.slice(0, 19)

const ms = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const
const months = { month: 1, quarter: 3, year: 12 } as const
const wallOf = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
const textOfWall = (wall: number) => new Date(wall).toISOString().slice(0, 19).replace('T', ' ')

function endOf(begin: string, interval: string, before: string | undefined): string {
  const at = wallOf(begin)
  if (Number.isNaN(at)) return begin
  if (Object.hasOwn(months, interval)) {
    const date = new Date(at)
    date.setUTCMonth(date.getUTCMonth() + months[interval as keyof typeof months])
    return textOfWall(date.getTime())
  }
  const length = Object.hasOwn(ms, interval) ? ms[interval as keyof typeof ms] : before === undefined ? ms.day : at - wallOf(before)
  return textOfWall(at + length)
}

export interface Span {
  readonly begin: string
  readonly end: string
}

/** The intervals of the axis, each from its beginning to before its end. Null: one of another period only. */
export function spansOf(chart: TimeChart): readonly (Span | null)[] {
  const { begins, interval } = chart
  // The others leave out what is between two intervals.
  const isWhole = chart.kind !== 'boxes' && !(chart.kind === 'lines' && chart.isSlope)
  return begins.map((text, i) => {
    if (text === '') return null
    const [begin, next, before] = [whole(text), begins[i + 1], begins[i - 1]]
    return { begin, end: next && isWhole ? whole(next) : endOf(begin, interval, before && whole(before)) }
  })
}

const instant = (text: string, timezone: string) => instantOf(text.slice(0, 16).replace(' ', 'T'), timezone)

/** From the first to the last interval, as instants. Null: the axis is not time. */
export function rangeOf(spans: readonly (Span | null)[], timezone: string): { readonly from: string; readonly to: string } | null {
  const own = spans.filter((span) => span !== null)
  if (own.length === 0 || own.some(({ begin }) => Number.isNaN(wallOf(begin)))) return null
  return { from: instant(own[0]!.begin, timezone), to: instant(own.at(-1)!.end, timezone) }
}

export const beginOf = (span: Span, timezone: string): string => instant(span.begin, timezone)

/** The annotations by the index of their interval, the earliest first. */
export function byInterval(
  spans: readonly (Span | null)[],
  annotations: readonly AnnotationAnswer[],
  timezone: string,
): ReadonlyMap<number, readonly AnnotationAnswer[]> {
  const found = new Map<number, AnnotationAnswer[]>()
  for (const one of [...annotations].reverse()) {
    if (one.date_marker === null) continue
    const at = whole(zoneText(new Date(one.date_marker), timezone))
    const index = spans.findIndex((span) => span !== null && span.begin <= at && at < span.end)
    if (index >= 0) found.set(index, [...(found.get(index) ?? []), one])
  }
  return found
}
