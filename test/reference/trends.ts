import { createHash } from 'node:crypto'

// The answer to a trends query by loops over an array of events, written from the description of the feature: for each bucket look at every
// event and ask whether it belongs there.

export interface ReferenceEvent {
  readonly event: string
  readonly person: number
  /** Where it is not the person's own: of somebody who was merged. */
  readonly distinctId?: string
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
  readonly interval: 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'
  /** Local dates, both inclusive; by minute and second the first and the last of these: `2020-03-08 05:30`. */
  readonly from: string
  readonly to: string
  readonly weekStartDay: 0 | 1
  readonly breakdown?: string
  readonly limit: number
  readonly isTotal: boolean
  readonly isCumulative: boolean
  readonly smoothing: number
  /** The share of distinct ids that is looked at; none: all. */
  readonly sample?: number | undefined
  readonly formula?: ReferenceFormula | undefined
}

/** As it is asked, and as it is computed from the numbers of the series. */
export interface ReferenceFormula {
  readonly text: string
  readonly of: (a: number, b: number) => number
}

export interface ReferenceRow {
  readonly series: number
  readonly breakdown: string | null
  readonly data: readonly number[]
}

export const none = '$$_posthog_breakdown_null_$$'
export const other = '$$_posthog_breakdown_other_$$'

/** `2020-03-08 05:00:00` in the zone, by the platform alone. */
const formats = new Map<string, Intl.DateTimeFormat>()
const known = new Map<string, string>()
export function localTime(at: number, zone: string): string {
  const key = `${zone} ${at}`
  const text = known.get(key) ?? written(at, zone)
  known.set(key, text)
  return text
}
function written(at: number, zone: string): string {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  return format.format(Math.floor(at / 1000))
}
export const localDay = (at: number, zone: string) => localTime(at, zone).slice(0, 10)

/** Letters of the local time that name a bucket shorter than a day. */
const nameLengths: Readonly<Record<string, number>> = { hour: 13, minute: 16, second: 19 }
const isShort = ({ interval }: ReferenceQuery) => interval in nameLengths
const isTiny = ({ interval }: ReferenceQuery) => interval === 'minute' || interval === 'second'

export const dayNumber = (day: string) => Date.parse(`${day}T00:00:00Z`) / 86_400_000
export const dayText = (number: number) => new Date(number * 86_400_000).toISOString().slice(0, 10)

export function bucketOfDay(day: string, { interval, weekStartDay }: Pick<ReferenceQuery, 'interval' | 'weekStartDay'>): string {
  if (interval === 'year') return `${day.slice(0, 4)}-01-01`
  if (interval === 'quarter') return `${day.slice(0, 5)}${['01', '04', '07', '10'][Math.floor((Number(day.slice(5, 7)) - 1) / 3)]}-01`
  if (interval === 'month') return `${day.slice(0, 7)}-01`
  if (interval !== 'week') return day
  const number = dayNumber(day)
  return dayText(number - ((((number + 4) % 7) + 7 - weekStartDay) % 7))
}

/** Names of the buckets in order. Hours that come twice on one day are one name here, so tests with hours stay clear of them. */
export function bucketsOf(query: ReferenceQuery): string[] {
  const names: string[] = []
  if (isTiny(query)) {
    const instant = (text: string) => Date.parse(`${text.replace(' ', 'T')}${query.interval === 'minute' ? ':00' : ''}Z`)
    const length = nameLengths[query.interval]!
    for (let at = instant(query.from); at <= instant(query.to); at += query.interval === 'minute' ? 60_000 : 1_000)
      names.push(new Date(at).toISOString().replace('T', ' ').slice(0, length))
    return names
  }
  for (let day = dayNumber(query.from); day <= dayNumber(query.to); day++) {
    const date = dayText(day)
    const inDay =
      query.interval === 'hour' ? Array.from({ length: 24 }, (_, h) => `${date} ${String(h).padStart(2, '0')}`) : [bucketOfDay(date, query)]
    for (const name of inDay) if (names.at(-1) !== name) names.push(name)
  }
  return names
}

const bucketOf = (at: number, query: ReferenceQuery): string =>
  isShort(query) ? localTime(at, query.zone).slice(0, nameLengths[query.interval]) : bucketOfDay(localDay(at, query.zone), query)

const wholeBuckets: readonly string[] = ['month', 'quarter', 'year']
/** Days that count: for months and longer the whole first bucket. */
const firstDay = (query: ReferenceQuery) =>
  wholeBuckets.includes(query.interval) && !query.isTotal ? bucketOfDay(query.from, query) : query.from
/** A time as the ends of the range are written. */
const asEnd = (at: number, query: ReferenceQuery) => localTime(at, query.zone).slice(0, isTiny(query) ? nameLengths[query.interval] : 10)
const isInRange = (e: ReferenceEvent, query: ReferenceQuery): boolean => {
  const end = asEnd(e.at, query)
  return end >= firstDay(query) && end <= query.to
}

/** The same distinct ids in every query with that share. */
export function isSampled({ distinctId, person }: ReferenceEvent, { sample }: Pick<ReferenceQuery, 'sample'>): boolean {
  if (sample === undefined) return true
  const digest = createHash('md5')
    .update(distinctId ?? `d${person}`)
    .digest()
  return Number(digest.readBigUInt64LE(8) % 1_000_000n) < sample * 1_000_000
}
const isScaled = ({ math }: ReferenceSeries) =>
  !(math in quantileNames) && !['avg', 'min', 'max'].includes(math) && !math.endsWith('_count_per_actor')

export const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
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

export const numberIn = (value: unknown): number | null => {
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
  const named = all.filter((e) => isNamed(e, series) && asEnd(e.at, query) <= query.to)
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
const longEnough: Readonly<Record<string, readonly string[]>> = { weekly_active: ['week', ...wholeBuckets], monthly_active: wholeBuckets }

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
      const cut = (e: ReferenceEvent) => (isShort(query) ? bucketOf(e.at, query) : localDay(e.at, query.zone))
      const after = `${start}${name.slice(10)}`
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

export const total = (data: readonly number[]) => data.reduce((a, b) => a + b, 0)

export function referenceTrends(all: readonly ReferenceEvent[], query: ReferenceQuery): ReferenceRow[] {
  const rows: ReferenceRow[] = []
  const events = all.filter((e) => isSampled(e, query))
  query.series.forEach((series, index) => {
    const show = (counted: readonly number[]) => {
      const { sample } = query
      const data = sample !== undefined && isScaled(series) ? counted.map((n) => Math.round(n / sample)) : counted
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
  return query.formula ? formulaRows(rows, query.formula, query) : rows
}

/** One row for each value that some series has; what a series does not have counts as zeros. */
export function formulaRows(rows: readonly ReferenceRow[], { of }: ReferenceFormula, query: ReferenceQuery): ReferenceRow[] {
  const values = [...new Set(rows.map((row) => row.breakdown))]
  const made = values.map((breakdown) => {
    const [a, b] = [0, 1].map((series) => rows.find((row) => row.series === series && row.breakdown === breakdown)?.data)
    const computed = (a ?? b)!.map((_, i) => of(a?.[i] ?? 0, b?.[i] ?? 0)).map((n) => (Number.isFinite(n) ? n : 0))
    return { series: 0, breakdown, data: computed, size: query.isCumulative ? computed.at(-1)! : total(computed) }
  })
  const rank = (v: string | null) => (v === other ? 2 : v === none ? 1 : 0)
  made.sort((x, y) => rank(x.breakdown) - rank(y.breakdown) || y.size - x.size || (y.breakdown! < x.breakdown! ? -1 : 1))
  return made.map(({ series, breakdown, data }) => ({ series, breakdown, data }))
}

/** A value has a row when some event of the series has it, whatever the number comes to; for windows that overlap, when one counts it. */
function hasRows(events: readonly ReferenceEvent[], series: ReferenceSeries, query: ReferenceQuery, value: string): boolean {
  if (windows[series.math]) return total(cells(events, series, query, value)) > 0
  const mine = candidates(events, series, query).filter((e) => breakdownOf(e, query) === value && (!isPerGroup(series) || e.group !== ''))
  return mine.some((e) => isInRange(e, query))
}

const isPerGroup = (series: ReferenceSeries) => series.perGroup || series.math === 'unique_group'
