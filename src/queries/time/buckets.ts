import { QueryError } from '../../errors/errors.ts'
import { endOf, type Interval, readWall, startOf, yearText } from '../../lib/time/calendar.ts'
import { day, type Micros } from '../../lib/time/zone.ts'
import { clock, isoInstant, type ResolvedRange } from './dates.ts'

// The buckets of a range: computed once in local time, so that no row is ever converted.

const maxBuckets = 200_000

/** The starts of the buckets from the one that contains `from` to the one that contains `to`, followed by the end of the last one. */
export function bucketEdges(range: ResolvedRange, interval: Interval = range.interval): Micros[] {
  const { calendar } = range
  const edges = [startOf(interval, range.from, calendar)]
  if (range.to < range.from) return edges
  for (let at = edges[0]!; at <= range.to; ) {
    at = endOf(interval, at, calendar)
    edges.push(at)
    if (edges.length > maxBuckets) throw tooManyBuckets(range, interval)
  }
  return edges
}

/** All time begins with the earliest event, whose time may be wrong: the error names it. */
function tooManyBuckets(range: ResolvedRange, interval: Interval): QueryError {
  const { parsed, from, calendar } = range
  const found = `more than ${maxBuckets} buckets of one ${interval}`
  const message =
    parsed.from === 'all'
      ? `All time starts at the earliest event (${isoInstant(from, calendar.zone)}) and has ${found}. Choose a longer interval, or a later date_from, which leaves this event out.`
      : `The range has ${found}. Choose a longer interval or a shorter range.`
  return new QueryError('validation-failed', { message, attr: 'interval' })
}

/** The index of the bucket with an instant; -1 outside of the range. */
export function bucketIndex(instant: Micros, range: ResolvedRange): number {
  const edges = bucketEdges(range)
  return instant < edges.at(-1)! ? edges.findLastIndex((edge) => edge <= instant) : -1
}

/** `count` buckets of `width` microseconds each, the first starting at `start` with the number `first`. */
export interface Run {
  readonly start: Micros
  readonly width: Micros
  readonly first: number
  readonly count: number
}

/** Adjacent buckets of the same width form a run: ninety days across a change of offset are three runs. */
export function runsOf(edges: readonly Micros[]): Run[] {
  const runs: Run[] = []
  for (let i = 0; i + 1 < edges.length; i++) {
    const width = edges[i + 1]! - edges[i]!
    const last = runs.at(-1)
    if (last && last.width === width) runs[runs.length - 1] = { ...last, count: last.count + 1 }
    else runs.push({ start: edges[i]!, width, first: i, count: 1 })
  }
  return runs
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const pad = (value: number) => String(value).padStart(2, '0')
const isClock = (interval: Interval) => interval === 'second' || interval === 'minute' || interval === 'hour'

/** The bucket in `days`: its first local date, with the time for intervals shorter than a day. */
export function bucketDay(start: Micros, { interval, calendar }: ResolvedRange): string {
  const { year, month, day: date, time } = readWall(calendar.zone.toWall(start))
  const text = `${yearText(year)}-${pad(month)}-${pad(date)}`
  return isClock(interval) ? `${text} ${clock(time)}` : text
}

/** The bucket in `labels`. */
export function bucketLabel(start: Micros, range: ResolvedRange): string {
  const { interval, calendar } = range
  const wall = calendar.zone.toWall(start)
  const { year, month, day: date, time } = readWall(wall)
  const name = months[month - 1]!
  if (interval === 'month') return `${name} ${year}`
  if (interval === 'quarter') return `Q${Math.ceil(month / 3)} ${year}`
  if (interval === 'year') return String(year)
  if (isClock(interval)) return `${date}-${name} ${interval === 'second' ? clock(time) : clock(time).slice(0, 5)}`
  if (interval === 'day') return dayLabel(wall)
  const first = Math.max(wall, midnight(calendar.zone.toWall(range.from)))
  return weekLabel(first, Math.max(first, Math.min(wall + 6 * day, midnight(calendar.zone.toWall(range.to)))))
}

const midnight = (wall: Micros) => wall - readWall(wall).time

function dayLabel(wall: Micros): string {
  const { year, month, day: date } = readWall(wall)
  return `${date}-${months[month - 1]}-${year}`
}

function weekLabel(first: Micros, last: Micros): string {
  if (first === last) return dayLabel(first)
  const [a, b] = [readWall(first), readWall(last)]
  if (a.year !== b.year) return `${dayLabel(first)} – ${dayLabel(last)}`
  if (a.month !== b.month) return `${a.day}-${months[a.month - 1]} – ${b.day}-${months[b.month - 1]}`
  return `${a.day}–${b.day} ${months[a.month - 1]}`
}
