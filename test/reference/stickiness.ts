import { bucketOfDay, dayNumber, dayText, isSampled, localDay, localTime, type ReferenceEvent, textOf } from './trends.ts'

// The answer to a stickiness by loops over an array of events: for each actor the names of the intervals with enough events.

export interface ReferenceStickySeries {
  readonly event: string | null
  readonly filter?: readonly [key: string, value: string]
  readonly actor: 'person' | 'group' | 'property'
}

export interface ReferenceStickiness {
  readonly zone: string
  readonly weekStartDay: 0 | 1
  readonly interval: 'hour' | 'day' | 'week' | 'month'
  /** So many intervals are one, counted back from the end. */
  readonly count: number | null
  /** Local dates, both inclusive. */
  readonly from: string
  readonly to: string
  readonly series: readonly ReferenceStickySeries[]
  readonly filter?: readonly [key: string, value: string]
  readonly criteria: { readonly operator: 'gte' | 'lte' | 'exact' | 'gt' | 'lt'; readonly value: number } | null
  readonly isCumulative: boolean
  readonly compares: boolean
  readonly sample?: number | undefined
}

export interface ReferenceStickyRow {
  readonly series: number
  readonly period: 'current' | 'previous' | null
  readonly data: readonly number[]
  readonly count: number
}

type Range = Pick<ReferenceStickiness, 'from' | 'to'>

const nameOf = (at: number, { interval, zone, weekStartDay }: ReferenceStickiness): string =>
  interval === 'hour' ? localTime(at, zone).slice(0, 13) : bucketOfDay(localDay(at, zone), { interval, weekStartDay })

/** The number of intervals that the range meets. */
function sizeOf({ interval, weekStartDay }: ReferenceStickiness, { from, to }: Range): number {
  const names = new Set<string>()
  for (let day = dayNumber(from); day <= dayNumber(to); day++)
    if (interval === 'hour') for (let hour = 0; hour < 24; hour++) names.add(`${day} ${hour}`)
    else names.add(bucketOfDay(dayText(day), { interval, weekStartDay }))
  return names.size
}

/** The same day of a month before, or the last one of a shorter month. */
function monthsBefore(date: string, months: number): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const first = new Date(Date.UTC(year, month - 1 - months, 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  first.setUTCDate(Math.min(day, last))
  return first.toISOString().slice(0, 10)
}

/** The interval of a local day, where several are one. */
function spanOf(day: string, count: number, interval: string, { to }: Range): number {
  if (interval !== 'month') return Math.floor((dayNumber(to) - dayNumber(day)) / (count * (interval === 'week' ? 7 : 1)))
  const end = dayText(dayNumber(to) + 1)
  let span = 0
  while (day < monthsBefore(end, (span + 1) * count)) span++
  return span
}

const holds = (n: number, { operator, value }: NonNullable<ReferenceStickiness['criteria']>): boolean =>
  ({ gte: n >= value, lte: n <= value, exact: n === value, gt: n > value, lt: n < value })[operator]

function rowOf(events: readonly ReferenceEvent[], series: ReferenceStickySeries, query: ReferenceStickiness, range: Range) {
  const { interval, zone, count, criteria } = query
  const has = (e: ReferenceEvent, filter?: readonly [string, string]) => !filter || textOf(e.properties[filter[0]]) === filter[1]
  const actorOf = (e: ReferenceEvent): string | null =>
    series.actor === 'person' ? String(e.person) : series.actor === 'group' ? e.group || null : textOf(e.properties.k)
  const firstDay = interval === 'month' ? bucketOfDay(range.from, query) : range.from
  const counted = events.filter((e) => {
    const day = localDay(e.at, zone)
    const isNamed = series.event === null || e.event === series.event
    return isNamed && has(e, series.filter) && has(e, query.filter) && isSampled(e, query) && day >= firstDay && day <= range.to
  })
  const intervalOf = (e: ReferenceEvent) =>
    count === null ? nameOf(e.at, query) : String(spanOf(localDay(e.at, zone), count, interval, range))
  const size = Math.ceil(sizeOf(query, range) / (count ?? 1))
  const data = new Array<number>(size).fill(0)
  for (const actor of new Set(counted.map(actorOf))) {
    if (actor === null) continue
    const own = counted.filter((e) => actorOf(e) === actor)
    const intervals = [...new Set(own.map(intervalOf))].filter((name) => {
      const inside = own.filter((e) => intervalOf(e) === name).length
      return criteria === null || holds(inside, criteria)
    })
    if (intervals.length > 0) data[intervals.length - 1]!++
  }
  const scaled = data.map((n) => (query.sample === undefined ? n : Math.round(n / query.sample)))
  const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
  return { data: query.isCumulative ? scaled.map((_, i) => sum(scaled.slice(i))) : scaled, count: sum(scaled) }
}

export function referenceStickiness(events: readonly ReferenceEvent[], query: ReferenceStickiness): ReferenceStickyRow[] {
  const days = dayNumber(query.to) - dayNumber(query.from) + 1
  const back = (date: string) => dayText(dayNumber(date) - days)
  const periods = query.compares
    ? ([
        ['current', query],
        ['previous', { from: back(query.from), to: back(query.to) }],
      ] as const)
    : ([[null, query]] as const)
  return periods.flatMap(([period, range]) =>
    query.series.map((series, i) => ({ series: i, period, ...rowOf(events, series, query, range) })),
  )
}
