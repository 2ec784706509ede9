import { bucketOfDay, dayNumber, dayText, isSampled, localDay, localTime, numberIn, type ReferenceEvent, textOf } from './trends.ts'

// The answer to a retention by loops over an array of events, written from the description of the feature: for each actor and each row, look at all
// events of the actor.

export interface ReferenceEntity {
  readonly event: string | null
  /** Property and the value it must have. */
  readonly filter?: readonly [key: string, value: string]
}

export interface ReferenceRetention {
  readonly zone: string
  readonly weekStartDay: 0 | 1
  readonly period: 'Hour' | 'Day' | 'Week' | 'Month'
  /** Local dates. Null: as many intervals as there are values. */
  readonly from: string | null
  readonly to: string
  readonly intervals: number
  readonly type: 'recurring' | 'first_time' | 'first_ever_occurrence'
  readonly start: ReferenceEntity
  readonly back: ReferenceEntity
  readonly filter?: readonly [key: string, value: string]
  readonly isCumulative: boolean
  readonly minimum: number
  readonly hasWindows: boolean
  readonly brackets: readonly number[] | null
  readonly sum: 'sum' | 'avg' | null
  readonly perGroup: boolean
  readonly breakdown: readonly string[]
  readonly limit: number
  readonly sample?: number | undefined
  /** Null: no comparison. */
  readonly comparedTo: 'before' | '-1d' | '-2w' | '-1m' | '-1y' | null
}

export interface ReferenceRetentionRow {
  readonly period: 'current' | 'previous' | null
  readonly breakdown: unknown
  readonly date: string
  readonly counts: readonly number[]
  readonly sums: readonly number[] | null
}

const other = '$$_posthog_breakdown_other_$$'
const hours = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'))

/** The interval that a time is in. Hours that come twice have one name, so hours are drawn in zones without a change. */
function nameOf(at: number, { period, zone, weekStartDay }: ReferenceRetention): string {
  if (period === 'Hour') return localTime(at, zone).slice(0, 13)
  return bucketOfDay(localDay(at, zone), { interval: period.toLowerCase() as 'day', weekStartDay })
}
function namesOf(day: number, { period, weekStartDay }: ReferenceRetention): string[] {
  const date = dayText(day)
  if (period === 'Hour') return hours.map((hour) => `${date} ${hour}`)
  return [bucketOfDay(date, { interval: period.toLowerCase() as 'day', weekStartDay })]
}

/** Names of the rows, in order. */
export function rowNames(query: ReferenceRetention): string[] {
  const names: string[] = []
  const last = dayNumber(query.to)
  if (query.from !== null) {
    for (let day = dayNumber(query.from); day <= last; day++) names.push(...namesOf(day, query))
    return [...new Set(names)]
  }
  for (let day = last; new Set(names).size < query.intervals; day--) names.unshift(...namesOf(day, query))
  return [...new Set(names)].slice(-query.intervals)
}

/** As many rows before those of the query, or from the interval on that contains the first day moved back. */
export function previousNames(query: ReferenceRetention): string[] {
  const current = rowNames(query)
  const length = { Hour: 1, Day: 1, Week: 7, Month: 31 }[query.period]
  const first = dayNumber(current[0]!.slice(0, 10))
  const names: string[] = []
  for (let day = first - length * current.length - 400; day <= dayNumber(query.to); day++) names.push(...namesOf(day, query))
  const all = [...new Set(names)]
  const { comparedTo } = query
  if (comparedTo === 'before') return all.slice(all.indexOf(current[0]!) - current.length, all.indexOf(current[0]!))
  const [years, months, dates] = { '-1d': [0, 0, 1], '-2w': [0, 0, 14], '-1m': [0, 1, 0], '-1y': [1, 0, 0] }[comparedTo!] as number[]
  const [year, month, date] = current[0]!.slice(0, 10).split('-').map(Number) as [number, number, number]
  const last = new Date(Date.UTC(year - years!, month - months!, 0)).getUTCDate()
  const moved = new Date(Date.UTC(year - years!, month - 1 - months!, Math.min(date, last) - dates!)).toISOString().slice(0, 10)
  const name = namesOf(dayNumber(moved), query)[query.period === 'Hour' ? Number(current[0]!.slice(11)) : 0]!
  return all.slice(all.indexOf(name), all.indexOf(name) + current.length)
}

/** Intervals after the start that each value from 1 on covers. */
function offsetsOf({ brackets, intervals }: ReferenceRetention): number[][] {
  if (!brackets) return Array.from({ length: intervals - 1 }, (_, i) => [i + 1])
  let next = 1
  return brackets.map((size) => Array.from({ length: size }, () => next++))
}

const hour = 3_600_000_000
/** The full windows between two times: from the start of the hour, or of the day for long ones. */
function windowsBetween(from: number, to: number, { period, zone }: ReferenceRetention): number {
  const days = { Week: 7, Month: 30 }[period as string]
  if (days) return Math.floor((dayNumber(localDay(to, zone)) - dayNumber(localDay(from, zone))) / days)
  const text = localTime(from, zone)
  const intoHour =
    Number(text.slice(14, 16)) * 60_000_000 + Number(text.slice(17, 19)) * 1_000_000 + (((from % 1_000_000) + 1_000_000) % 1_000_000)
  return Math.floor((to - (from - intoHour)) / (period === 'Hour' ? hour : 24 * hour))
}

const isEntity = (e: ReferenceEvent, { event, filter }: ReferenceEntity) =>
  (event === null || e.event === event) && (!filter || textOf(e.properties[filter[0]]) === filter[1])
const textsOf = (e: ReferenceEvent, { breakdown }: ReferenceRetention): string =>
  JSON.stringify(breakdown.map((key) => textOf(e.properties[key]) ?? ''))

/** What one actor contributes to one row: by value, whether it counts, and its sum. */
interface Contribution {
  readonly row: number
  readonly isCounted: readonly boolean[]
  readonly sums: readonly number[]
}

function contributions(own: readonly ReferenceEvent[], rows: readonly string[], query: ReferenceRetention): Contribution[] {
  const rowOf = (e: ReferenceEvent) => rows.indexOf(nameOf(e.at, query))
  const starting = own.filter((e) => isEntity(e, query.start))
  const returning = own.filter((e) => isEntity(e, query.back) && rowOf(e) >= 0)
  const earliest = (events: readonly ReferenceEvent[]) => events.reduce<ReferenceEvent | null>((a, b) => (a && a.at <= b.at ? a : b), null)
  const inRange = starting.filter((e) => rowOf(e) >= 0)
  let begun: (readonly [row: number, at: number])[] = []
  if (query.type === 'recurring') {
    const first = earliest(inRange)
    if (query.hasWindows) begun = first ? [[rowOf(first), first.at]] : []
    else begun = rows.flatMap((_, row) => (inRange.some((e) => rowOf(e) === row) ? [[row, 0] as const] : []))
  } else {
    const first = earliest(starting)
    const named = earliest(own.filter((e) => isEntity(e, { event: query.start.event })))
    const isFirst = query.type === 'first_time' || first?.at === named?.at
    if (first && isFirst && rowOf(first) >= 0) begun = [[rowOf(first), first.at]]
  }
  const isSame = JSON.stringify([query.start.event, query.start.filter]) === JSON.stringify([query.back.event, query.back.filter])
  const sum = (events: readonly ReferenceEvent[]) => events.reduce((all, e) => all + (numberIn(e.properties.n) ?? 0), 0)
  return begun.map(([row, at]) => {
    const offsetOf = (e: ReferenceEvent) => (query.hasWindows ? windowsBetween(at, e.at, query) : rowOf(e) - row)
    const returnsAt = (offset: number) => returning.filter((e) => offsetOf(e) === offset)
    const startsHere = inRange.filter((e) => rowOf(e) === row)
    const firstHere = Math.min(...startsHere.map((e) => e.at))
    const here = isSame ? startsHere : returning.filter((e) => rowOf(e) === row && e.at > firstHere)
    const covered = offsetsOf(query)
    const isThere = covered.map((offsets) => offsets.some((offset) => returnsAt(offset).length >= query.minimum))
    const isCounted = isThere.map((is, i) => is || (query.isCumulative && isThere.slice(i).includes(true)))
    return { row, isCounted: [true, ...isCounted], sums: [sum(here), ...covered.map((offsets) => sum(offsets.flatMap(returnsAt)))] }
  })
}

export function referenceRetention(all: readonly ReferenceEvent[], query: ReferenceRetention): ReferenceRetentionRow[] {
  if (query.comparedTo === null) return rowsOfPeriod(all, rowNames(query), query).map((row) => ({ period: null, ...row }))
  return [
    ...rowsOfPeriod(all, rowNames(query), query).map((row) => ({ period: 'current' as const, ...row })),
    ...rowsOfPeriod(all, previousNames(query), query).map((row) => ({ period: 'previous' as const, ...row })),
  ]
}

type PeriodRow = Omit<ReferenceRetentionRow, 'period'>

function rowsOfPeriod(all: readonly ReferenceEvent[], rows: readonly string[], query: ReferenceRetention): PeriodRow[] {
  const events = all.filter((e) => isSampled(e, query) && isEntity(e, { event: null, ...(query.filter && { filter: query.filter }) }))
  const actorOf = (e: ReferenceEvent) => (query.perGroup ? e.group : String(e.person))
  const actors = [...new Set(events.map(actorOf))].filter((actor) => actor !== '')
  const columns = offsetsOf(query).length + 1
  interface Table {
    readonly counts: number[][]
    readonly sums: number[][]
  }
  const blank = (): Table => ({ counts: rows.map(() => new Array(columns).fill(0)), sums: rows.map(() => new Array(columns).fill(0)) })
  const tables = new Map<string, Table>()
  const add = (value: string, found: readonly Contribution[]) => {
    for (const { row, isCounted, sums } of found) {
      if (!tables.has(value)) tables.set(value, blank())
      const table = tables.get(value)!
      isCounted.forEach((is, column) => {
        table.counts[row]![column]! += is ? 1 : 0
        table.sums[row]![column]! += sums[column]!
      })
    }
  }
  for (const actor of actors) {
    const own = events.filter((e) => actorOf(e) === actor)
    if (query.type === 'first_ever_occurrence') {
      const starting = own.filter((e) => isEntity(e, query.start))
      const first = Math.min(...starting.map((e) => e.at))
      const event = starting.find((e) => e.at === first)
      if (event) add(textsOf(event, query), contributions(own, rows, query))
      continue
    }
    for (const value of new Set(own.map((e) => textsOf(e, query))))
      add(
        value,
        contributions(
          own.filter((e) => textsOf(e, query) === value),
          rows,
          query,
        ),
      )
  }
  const scaled = (n: number) => (query.sample === undefined ? n : Math.round(n / query.sample))
  const shown = (name: unknown, { counts, sums }: Table): PeriodRow[] =>
    rows.map((date, row) => ({
      breakdown: name,
      date,
      counts: counts[row]!.map(scaled),
      sums:
        query.sum === null
          ? null
          : sums[row]!.map((sum, i) => (query.sum === 'sum' ? scaled(sum) : counts[row]![i] === 0 ? 0 : sum / counts[row]![i]!)),
    }))
  if (query.breakdown.length === 0) return shown(null, tables.get('[]') ?? blank())
  const size = ({ counts }: Table) => counts.reduce((all, row) => all + row[0]!, 0)
  const ranked = [...tables].sort(([a, x], [b, y]) => size(y) - size(x) || (textsBefore(a, b) ? -1 : 1))
  const rest = ranked.slice(query.limit)
  const merged = rest.reduce<Table>((a, [, b]) => ({ counts: plus(a.counts, b.counts), sums: plus(a.sums, b.sums) }), blank())
  const name = (texts: readonly string[]) => (texts.length === 1 ? texts[0] : texts)
  return [
    ...ranked.slice(0, query.limit).flatMap(([value, table]) => shown(name(JSON.parse(value) as string[]), table)),
    ...(rest.length > 0 ? shown(name(query.breakdown.map(() => other)), merged) : []),
  ]
}

const plus = (a: readonly number[][], b: readonly number[][]): number[][] => a.map((row, i) => row.map((n, j) => n + b[i]![j]!))
function textsBefore(a: string, b: string): boolean {
  const [x, y] = [JSON.parse(a) as string[], JSON.parse(b) as string[]]
  const i = x.findIndex((part, k) => part !== y[k])
  return i >= 0 && x[i]! < y[i]!
}
