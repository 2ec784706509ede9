// The answer to a trends query by loops over an array of events, written from the description of the feature: for each bucket look at every
// event and ask whether it belongs there.

export interface ReferenceEvent {
  readonly event: string
  readonly person: number
  /** Microseconds. */
  readonly at: number
  readonly session: string
  readonly group: string
  readonly properties: Readonly<Record<string, string | number | boolean | null>>
}

export interface ReferenceSeries {
  readonly event: string | null
  readonly math: string
  readonly property?: string
  /** Of the series itself: property and the value it must have. */
  readonly filter?: readonly [key: string, value: string]
  readonly perGroup?: boolean
}

export interface ReferenceQuery {
  readonly series: readonly ReferenceSeries[]
  readonly zone: string
  readonly interval: 'hour' | 'day' | 'week' | 'month'
  /** Local dates, both inclusive. */
  readonly from: string
  readonly to: string
  readonly weekStartDay: 0 | 1
  readonly breakdown?: string
  readonly limit: number
  readonly isTotal: boolean
  readonly isCumulative: boolean
  readonly smoothing: number
}

export interface ReferenceRow {
  readonly series: number
  readonly breakdown: string | null
  readonly data: readonly number[]
}

const none = '$$_posthog_breakdown_null_$$'
const other = '$$_posthog_breakdown_other_$$'

/** `2020-03-08 05` in the zone, by the platform alone. */
const formats = new Map<string, Intl.DateTimeFormat>()
function localHour(at: number, zone: string): string {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  return format.format(Math.floor(at / 1000))
}
const localDay = (at: number, zone: string) => localHour(at, zone).slice(0, 10)

const dayNumber = (day: string) => Date.parse(`${day}T00:00:00Z`) / 86_400_000
const dayText = (number: number) => new Date(number * 86_400_000).toISOString().slice(0, 10)

function bucketOfDay(day: string, { interval, weekStartDay }: ReferenceQuery): string {
  if (interval === 'month') return `${day.slice(0, 7)}-01`
  if (interval !== 'week') return day
  const number = dayNumber(day)
  return dayText(number - ((((number + 4) % 7) + 7 - weekStartDay) % 7))
}

/** Names of the buckets in order. Hours that come twice on one day are one name here, so tests with hours stay clear of them. */
export function bucketsOf(query: ReferenceQuery): string[] {
  const names: string[] = []
  for (let day = dayNumber(query.from); day <= dayNumber(query.to); day++) {
    const date = dayText(day)
    const inDay =
      query.interval === 'hour' ? Array.from({ length: 24 }, (_, h) => `${date} ${String(h).padStart(2, '0')}`) : [bucketOfDay(date, query)]
    for (const name of inDay) if (names.at(-1) !== name) names.push(name)
  }
  return names
}

const bucketOf = (at: number, query: ReferenceQuery): string =>
  query.interval === 'hour' ? localHour(at, query.zone) : bucketOfDay(localDay(at, query.zone), query)

/** Days that count: for months the whole first month. */
const firstDay = (query: ReferenceQuery) => (query.interval === 'month' && !query.isTotal ? `${query.from.slice(0, 7)}-01` : query.from)
const isInRange = (e: ReferenceEvent, query: ReferenceQuery): boolean => {
  const day = localDay(e.at, query.zone)
  return day >= firstDay(query) && day <= query.to
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
const matchesFilter = (e: ReferenceEvent, { filter }: ReferenceSeries) => !filter || textOf(e.properties[filter[0]]) === filter[1]
const isNamed = (e: ReferenceEvent, { event }: ReferenceSeries) => event === null || e.event === event
const breakdownOf = (e: ReferenceEvent, { breakdown }: ReferenceQuery): string | null =>
  breakdown === undefined ? null : textOf(e.properties[breakdown]) || none

const quantileNames: Readonly<Record<string, number>> = { median: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99 }

function aggregate(name: string, values: readonly number[]): number {
  if (values.length === 0) return 0
  const sum = values.reduce((a, b) => a + b, 0)
  if (name === 'sum') return sum
  if (name === 'avg') return sum / values.length
  if (name === 'min') return Math.min(...values)
  if (name === 'max') return Math.max(...values)
  const sorted = [...values].sort((a, b) => a - b)
  const place = quantileNames[name]! * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
  return low + (high - low) * (place - Math.floor(place))
}

const numberIn = (value: unknown): number | null => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null
}

/** The number of one cell from the events in it. */
function numberOf(events: readonly ReferenceEvent[], series: ReferenceSeries): number {
  const { math, property } = series
  const actorOf = (e: ReferenceEvent) => (series.perGroup ? e.group : String(e.person))
  const actors = events.filter((e) => !series.perGroup || e.group !== '').map(actorOf)
  if (math === 'total') return events.length
  if (math === 'unique_session') return new Set(events.map((e) => e.session)).size
  if (math === 'unique_group') return new Set(events.map((e) => e.group).filter((g) => g !== '')).size
  if (['dau', 'weekly_active', 'monthly_active'].includes(math)) return new Set(actors).size
  if (math.startsWith('first_')) return events.length
  if (math.endsWith('_count_per_actor')) {
    const counts = [...new Set(actors)].map((actor) => actors.filter((a) => a === actor).length)
    return aggregate(math.replace('_count_per_actor', ''), counts)
  }
  return aggregate(
    math,
    events.map((e) => numberIn(e.properties[property ?? ''])).filter((n) => n !== null),
  )
}

/** For maths about first times only those events are left; of events at one time the first in the list is the first. */
function candidates(all: readonly ReferenceEvent[], series: ReferenceSeries, query: ReferenceQuery): ReferenceEvent[] {
  const named = all.filter((e) => isNamed(e, series) && localDay(e.at, query.zone) <= query.to)
  const matching = named.filter((e) => matchesFilter(e, series))
  if (!series.math.startsWith('first_')) return matching
  const looked = series.math === 'first_time_for_user' ? named : matching
  return [...new Set(all.map((e) => e.person))].flatMap((person) => {
    const first = Math.min(...looked.filter((e) => e.person === person).map((e) => e.at))
    const found = matching.find((e) => e.person === person && e.at === first)
    return found ? [found] : []
  })
}

const windows: Readonly<Record<string, number>> = { weekly_active: 7, monthly_active: 30 }
const longEnough: Readonly<Record<string, readonly string[]>> = { weekly_active: ['week', 'month'], monthly_active: ['month'] }

function cells(all: readonly ReferenceEvent[], series: ReferenceSeries, query: ReferenceQuery, value: string | null): number[] {
  const events = candidates(all, series, query).filter((e) => value === null || breakdownOf(e, query) === value)
  const inRange = events.filter((e) => isInRange(e, query))
  const days = windows[series.math]
  if (query.isTotal) {
    if (!days) return [numberOf(inRange, series)]
    // The end is the last instant of its day, and the window as many days before it.
    const first = dayText(dayNumber(query.to) - days + 1)
    return [
      numberOf(
        events.filter((e) => localDay(e.at, query.zone) >= first),
        series,
      ),
    ]
  }
  const names = bucketsOf(query)
  if (days && !longEnough[series.math]!.includes(query.interval)) {
    return names.map((name) => {
      const end = name.slice(0, 10)
      const start = dayText(dayNumber(end) - days)
      const cut = (e: ReferenceEvent) => (query.interval === 'hour' ? localHour(e.at, query.zone) : localDay(e.at, query.zone))
      const after = query.interval === 'hour' ? `${start}${name.slice(10)}` : start
      return numberOf(
        events.filter((e) => cut(e) > after && cut(e) <= name),
        series,
      )
    })
  }
  if (query.isCumulative && (series.math === 'dau' || series.math === 'unique_group')) {
    const seen = new Set<string>()
    return names.map((name) => {
      const before = seen.size
      for (const e of inRange) {
        const actor = series.math === 'unique_group' || series.perGroup ? e.group : String(e.person)
        if (bucketOf(e.at, query) === name && actor !== '') seen.add(actor)
      }
      return seen.size - before
    })
  }
  return names.map((name) =>
    numberOf(
      inRange.filter((e) => bucketOf(e.at, query) === name),
      series,
    ),
  )
}

const total = (data: readonly number[]) => data.reduce((a, b) => a + b, 0)

export function referenceTrends(events: readonly ReferenceEvent[], query: ReferenceQuery): ReferenceRow[] {
  const rows: ReferenceRow[] = []
  query.series.forEach((series, index) => {
    const show = (data: readonly number[]) => {
      if (query.isTotal) return data
      const n = query.smoothing
      const smooth = n > 1 ? data.map((_, i) => Math.floor(total(data.slice(Math.max(0, i - n + 1), i + 1)) / Math.min(n, i + 1))) : data
      return query.isCumulative ? smooth.map((_, i) => total(smooth.slice(0, i + 1))) : smooth
    }
    if (query.breakdown === undefined) {
      rows.push({ series: index, breakdown: null, data: show(cells(events, series, query, null)) })
      return
    }
    const values = [...new Set(events.map((e) => breakdownOf(e, query)!))]
    const isPresent = (value: string) => hasRows(events, series, query, value)
    const found = values.filter(isPresent).map((value) => ({ value, data: cells(events, series, query, value) }))
    const rank = (v: string) => (v === none ? 1 : 0)
    found.sort((a, b) => rank(a.value) - rank(b.value) || total(b.data) - total(a.data) || (a.value < b.value ? -1 : 1))
    const rest = found.slice(query.limit)
    for (const { value, data } of found.slice(0, query.limit)) rows.push({ series: index, breakdown: value, data: show(data) })
    if (rest.length)
      rows.push({ series: index, breakdown: other, data: show(rest[0]!.data.map((_, i) => total(rest.map((r) => r.data[i]!)))) })
  })
  return rows
}

/** A value has a row when some event of the series has it, whatever the number comes to; for windows that overlap, when one counts it. */
function hasRows(events: readonly ReferenceEvent[], series: ReferenceSeries, query: ReferenceQuery, value: string): boolean {
  if (windows[series.math]) return total(cells(events, series, query, value)) > 0
  const mine = candidates(events, series, query).filter((e) => breakdownOf(e, query) === value && (!isPerGroup(series) || e.group !== ''))
  return mine.some((e) => isInRange(e, query))
}

const isPerGroup = (series: ReferenceSeries) => series.perGroup || series.math === 'unique_group'
