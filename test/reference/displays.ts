import {
  bucketOfDay,
  dayNumber,
  dayText,
  formulaRows,
  localDay,
  localTime,
  none,
  numberIn,
  other,
  type ReferenceEvent,
  type ReferenceQuery,
  type ReferenceRow,
  referenceTrends,
  total,
} from './trends.ts'

// The heat map, the box plot and the slope graph of a trend by loops over an array of events.

export interface ReferenceDisplay {
  readonly zone: string
  readonly weekStartDay: 0 | 1
  readonly interval: 'day' | 'week' | 'month'
  /** Local dates, both included. */
  readonly from: string
  readonly to: string
  readonly event: string | null
  readonly math: 'total' | 'dau' | 'unique_group' | 'sum' | 'max'
  /** With the period before, or this one so many days earlier. */
  readonly compares: null | 'before' | 2 | 7
}

export type ReferencePeriod = 'current' | 'previous'

/** The query for each of its periods. */
export function periodsOf(query: ReferenceDisplay): readonly (readonly [ReferencePeriod | null, ReferenceDisplay])[] {
  const { from, to, compares } = query
  if (compares === null) return [[null, query]]
  const days = compares === 'before' ? dayNumber(to) - dayNumber(from) + 1 : compares
  const back = (day: string) => dayText(dayNumber(day) - days)
  return [
    ['current', query],
    ['previous', { ...query, from: back(from), to: back(to) }],
  ]
}

const isCounted = (e: ReferenceEvent, { zone, from, to, event }: ReferenceDisplay) => {
  const day = localDay(e.at, zone)
  return day >= from && day <= to && (event === null || e.event === event)
}

/** Monday is 1. */
const weekday = (at: number, zone: string) => ((dayNumber(localDay(at, zone)) + 3) % 7) + 1

function numberOf(events: readonly ReferenceEvent[], { math }: ReferenceDisplay): number {
  if (math === 'total') return events.length
  if (math === 'dau') return new Set(events.map(({ person }) => person)).size
  if (math === 'unique_group') return new Set(events.map(({ group }) => group)).size
  const numbers = events.map(({ properties }) => numberIn(properties.n)).filter((n) => n !== null)
  if (math === 'sum') return numbers.reduce((sum, n) => sum + n, 0)
  return numbers.length === 0 ? 0 : Math.max(...numbers)
}

export function referenceHeatmap(all: readonly ReferenceEvent[], query: ReferenceDisplay) {
  const events = all.filter((e) => isCounted(e, query) && (query.math !== 'unique_group' || e.group !== ''))
  const row = (e: ReferenceEvent) => weekday(e.at, query.zone)
  const column = (e: ReferenceEvent) => Number(localTime(e.at, query.zone).slice(11, 13))
  const numbers = (of: (e: ReferenceEvent) => number) => [...new Set(events.map(of))].sort((a, b) => a - b)
  const cells = numbers((e) => row(e) * 100 + column(e))
  const value = (is: (e: ReferenceEvent) => boolean) => numberOf(events.filter(is), query)
  return {
    data: cells.map((cell) => ({
      row: Math.floor(cell / 100),
      column: cell % 100,
      value: value((e) => row(e) * 100 + column(e) === cell),
    })),
    rowAggregations: numbers(row).map((one) => ({ row: one, value: value((e) => row(e) === one) })),
    columnAggregations: numbers(column).map((one) => ({ column: one, value: value((e) => column(e) === one) })),
    allAggregations: value(() => true),
  }
}

/** Between the two nearest numbers. */
function quantile(sorted: readonly number[], level: number): number {
  const place = (sorted.length - 1) * level
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
  return low + (high - low) * (place - Math.floor(place))
}

/** The numbers of each box, and whose they are. */
function numbersByDay(all: readonly ReferenceEvent[], query: ReferenceDisplay) {
  const byDay = new Map<string, { readonly person: number; readonly number: number }[]>()
  for (const e of all) {
    const number = numberIn(e.properties.n)
    if (!isCounted(e, query) || number === null) continue
    const day = bucketOfDay(localDay(e.at, query.zone), query)
    byDay.set(day, [...(byDay.get(day) ?? []), { person: e.person, number }])
  }
  return byDay
}

/** The persons of a box, or of all of them, with how many of its numbers are theirs. */
export function referenceBoxActors(all: readonly ReferenceEvent[], query: ReferenceDisplay, day: string | null): Map<number, number> {
  const byDay = numbersByDay(all, query)
  const counts = new Map<number, number>()
  for (const { person } of day === null ? [...byDay.values()].flat() : (byDay.get(day) ?? []))
    counts.set(person, (counts.get(person) ?? 0) + 1)
  return counts
}

function bucketsOf(query: ReferenceDisplay): readonly string[] {
  const days = Array.from({ length: dayNumber(query.to) - dayNumber(query.from) + 1 }, (_, i) => dayText(dayNumber(query.from) + i))
  return [...new Set(days.map((day) => bucketOfDay(day, query)))]
}

export function referenceBoxes(all: readonly ReferenceEvent[], query: ReferenceDisplay) {
  const byDay = numbersByDay(all, query)
  return bucketsOf(query).map((day) => {
    const found = byDay.get(day) ?? []
    if (found.length === 0) return { day, min: 0, p25: 0, median: 0, p75: 0, max: 0, mean: 0, count: 0 }
    const sorted = found.map(({ number }) => number).sort((a, b) => a - b)
    const [p25, median, p75] = [0.25, 0.5, 0.75].map((level) => quantile(sorted, level))
    const mean = sorted.reduce((sum, n) => sum + n, 0) / sorted.length
    return { day, min: sorted[0]!, p25: p25!, median: median!, p75: p75!, max: sorted.at(-1)!, mean, count: sorted.length }
  })
}

/** The first and the last number of each line; the values of a breakdown are ranked by these two. */
export function referenceSlope(all: readonly ReferenceEvent[], query: ReferenceQuery): ReferenceRow[] {
  const lines = referenceTrends(all, { ...query, limit: Number.POSITIVE_INFINITY, formula: undefined, smoothing: 1 })
  const ends = lines.map((line) => ({ ...line, data: line.data.filter((_, i) => i === 0 || i === line.data.length - 1) }))
  const rows = query.series.flatMap((_, series) => {
    const mine = ends.filter((line) => line.series === series)
    return query.breakdown === undefined ? mine : limited(mine, query.limit)
  })
  return query.formula ? formulaRows(rows, query.formula, query) : rows
}

function limited(lines: readonly ReferenceRow[], limit: number): ReferenceRow[] {
  const rank = ({ breakdown }: ReferenceRow) => (breakdown === none ? 1 : 0)
  const shown = lines.filter(({ data }) => data.some((n) => n !== 0))
  shown.sort((a, b) => rank(a) - rank(b) || total(b.data) - total(a.data) || (a.breakdown! < b.breakdown! ? -1 : 1))
  const rest = shown.slice(limit)
  if (rest.length === 0) return shown
  return [
    ...shown.slice(0, limit),
    { ...rest[0]!, breakdown: other, data: rest[0]!.data.map((_, i) => total(rest.map((r) => r.data[i]!))) },
  ]
}
