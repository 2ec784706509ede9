import { type Chart, clipped, cut, most, nothing } from '../chart.ts'
import type { NumberFormat } from '../format.ts'
import { readableEvent } from '../readable.ts'
import { zoneText } from '../zone-text.ts'
import { intervalOf } from './unfinished.ts'
import { type Fields, fieldsOf, isPreviousRow, listOf, numberOf, objectsOf, textOf } from './values.ts'

export const measures = ['min', 'p25', 'median', 'p75', 'max', 'mean'] as const

/** A clock in milliseconds: `2026-01-05`, `2026-01-05 11:00`. */
const wallOf = (text: string): number => Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19) || '00:00'}Z`)

const second = 1000
const lengths: Readonly<Record<string, number>> = {
  second,
  minute: 60 * second,
  hour: 3600 * second,
  day: 24 * 3600 * second,
  week: 7 * 24 * 3600 * second,
}
const monthsIn: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 }

/** How many intervals after the first one of its period a box is: the first one begins at or before `from`. */
function placeOf(day: string, from: string, interval: string): number {
  const months = monthsIn[interval]
  if (months !== undefined) {
    const month = (text: string) => Math.floor((Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1) / months)
    return month(day) - month(from)
  }
  // A week begins on the same day of the week as all others, which is not known here.
  return Math.ceil((wallOf(day) - wallOf(interval === 'week' ? from.slice(0, 10) : from)) / (lengths[interval] ?? lengths.day!))
}

/** The boxes of both periods are paired by the number of their interval. */
function placesOf(boxes: readonly Fields[], query: Fields, answer: Fields, timezone: string): readonly number[] {
  const interval = intervalOf(
    textOf(query.interval),
    boxes.map((row) => textOf(row.day)),
  )
  const starts = ([answer.resolved_date_range, answer.resolved_compare_date_range] as const).map((range, i) => {
    const at = new Date(textOf(fieldsOf(range).date_from))
    if (!Number.isNaN(at.getTime())) return zoneText(at, timezone)
    const days = boxes.filter((row) => isPreviousRow(row) === (i === 1)).map((row) => textOf(row.day))
    return days.sort()[0] ?? ''
  })
  return boxes.map((row) => placeOf(textOf(row.day), starts[isPreviousRow(row) ? 1 : 0]!, interval) || 0)
}

/** What a series was renamed to is in the query. */
export function boxLabel(row: Fields, query: Fields): string {
  const { custom_name } = fieldsOf(listOf(query.series)[numberOf(row.series_index) ?? 0])
  return `${textOf(custom_name) || readableEvent(textOf(row.series_label))}${isPreviousRow(row) ? ' (previous)' : ''}`
}

export function boxChart(query: Fields, answer: Fields, timezone: string, format: NumberFormat): Chart {
  const rows = objectsOf(answer.boxplot_data)
  const hasBox = (row: Fields) => numberOf(row.count) !== 0 && measures.every((name) => numberOf(row[name]) !== null)
  const data = rows.flatMap((row, index) => (hasBox(row) ? [{ row, index }] : []))
  if (data.length === 0) return nothing()
  const places = placesOf(
    data.map(({ row }) => row),
    query,
    answer,
    timezone,
  )
  const placed = data.map((one, i) => ({ ...one, place: places[i]! })).sort((a, b) => a.place - b.place)
  const { kept, leftOut } = cut(placed, most.boxes, 'box', 'boxes')
  const labels = new Map<number, string>()
  const when = (row: Fields) => `${clipped(textOf(row.label), 24)}${isPreviousRow(row) ? ' (previous)' : ''}`
  for (const { place, row } of kept) if (!labels.has(place) || !isPreviousRow(row)) labels.set(place, when(row))
  const shown = [...labels.keys()]
  const beginAt = (place: number) => kept.find((one) => one.place === place && !isPreviousRow(one.row))?.row.day
  return {
    kind: 'boxes',
    labels: [...labels.values()],
    begins: shown.map((place) => textOf(beginAt(place))),
    interval: intervalOf(
      textOf(query.interval),
      kept.map(({ row }) => textOf(row.day)),
    ),
    boxes: kept.map(({ row, index, place }) => ({
      at: shown.indexOf(place),
      label: clipped(boxLabel(row, query)),
      when: clipped(textOf(row.label), 24),
      color: numberOf(row.series_index) ?? 0,
      isPrevious: isPreviousRow(row),
      row: index,
      ...(Object.fromEntries(measures.map((name) => [name, numberOf(row[name])!])) as Record<(typeof measures)[number], number>),
    })),
    format,
    leftOut,
  }
}
