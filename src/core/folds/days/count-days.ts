import { Ints } from '../../kernels/grow.ts'
import type { CalendarDays } from '../../lists/kept/calendar-days.ts'
import { DayCounts, quarter } from '../../lists/kept/day-counts.ts'
import type { EventBits, Fold, ListView } from '../fold.ts'
import { Matches } from '../matches.ts'
import { Edges } from '../series/edges.ts'

// Counts the events of a condition by day, so that the next questions only read these counts.

export interface CountDaysParams {
  /** Bit 0 is the condition. */
  readonly bits: EventBits
  /** The starts of all days with an event, and the end of the last one. */
  readonly edges: Float64Array
}

/** By day, as many as there are edges less one. */
interface CountedDays {
  /** The persons of each day in order, one day after the other: those of day `d` are from `offsets[d]` to `offsets[d + 1]`. */
  readonly persons: Int32Array
  readonly offsets: Int32Array
  /** Events by quarter of an hour, `quartersOf` of each day. */
  readonly quarters: Uint32Array
  readonly least: Float64Array
  readonly greatest: Float64Array
}

/** The quarters of the longest day. */
const quartersOf = (edges: Float64Array): number => {
  let longest = 0
  for (let i = 1; i < edges.length; i++) longest = Math.max(longest, edges[i]! - edges[i - 1]!)
  return Math.ceil(longest / quarter)
}

export const countDaysFold: Fold<CountDaysParams, readonly CountedDays[]> = {
  name: 'count days',
  over: 'persons',
  *run(lists, { bits, edges }, from, to) {
    const days = edges.length - 1
    const ofDay = quartersOf(edges)
    const quarters = new Uint32Array(days * ofDay)
    const least = new Float64Array(days).fill(Number.POSITIVE_INFINITY)
    const greatest = new Float64Array(days).fill(Number.NEGATIVE_INFINITY)
    const [rows, dayOf] = [new Ints(), new Ints()]
    const whole = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, scope: null, bits, further: null, takesAll: false }
    const matches = new Matches(whole)
    const table = new Edges(edges)
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      const { time, offsets } = matches
      for (let at = 0; at < matches.persons; at++) {
        let day = -1
        let until = Number.NEGATIVE_INFINITY
        for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
          const when = time[row]!
          if (when >= until) {
            day = table.countAt(when) - 1
            until = edges[day + 1]!
            rows.push(matches.person[at]!)
            dayOf.push(day)
            if (when < least[day]!) least[day] = when
          }
          quarters[day * ofDay + Math.floor((when - edges[day]!) / quarter)]!++
          if (when > greatest[day]!) greatest[day] = when
        }
      }
      yield
    }
    return [{ ...byDay(rows.view(), dayOf.view(), days), quarters, least, greatest }]
  },
  join: (parts) => parts.flat(),
}

/** The rows in order of their days. Those of a day keep their order. */
function byDay(persons: Int32Array, dayOf: Int32Array, days: number): Pick<CountedDays, 'persons' | 'offsets'> {
  const offsets = new Int32Array(days + 1)
  for (let row = 0; row < dayOf.length; row++) offsets[dayOf[row]! + 1]!++
  for (let day = 0; day < days; day++) offsets[day + 1]! += offsets[day]!
  const at = offsets.slice()
  const sorted = new Int32Array(persons.length)
  for (let row = 0; row < dayOf.length; row++) sorted[at[dayOf[row]!]!++] = persons[row]!
  return { persons: sorted, offsets }
}

/** Days that are too many are not worth it. */
const mostDays = 50_000

/** The starts of the days of all events, and the end of the last one. Null: there are none, or far too many days. A loop with pauses. */
export function* edgesOfAll({ start, end, time, persons }: ListView, days: CalendarDays): Generator<void, Float64Array | null, void> {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let person = 0; person < persons; person++) {
    if (person % 65_536 === 65_535) yield
    if (start[person] === end[person]) continue
    first = Math.min(first, time[start[person]!]!)
    last = Math.max(last, time[end[person]! - 1]!)
  }
  if (first > last || (last - first) / 86_400e6 > mostDays) return null
  return days.edges(days.numberAt(first), days.numberAt(last))
}

/** What the fold has counted. A loop with pauses. */
export function* dayCounts(
  parts: readonly CountedDays[],
  { edges }: CountDaysParams,
  days: CalendarDays,
): Generator<void, DayCounts, void> {
  const counts = new DayCounts(days)
  const ofDay = quartersOf(edges)
  const first = days.numberAt(edges[0]!)
  for (let day = 0; day < edges.length - 1; day++) {
    if (day % 16 === 15) yield
    for (const { persons, offsets, quarters, least, greatest } of parts) {
      if (offsets[day] === offsets[day + 1]) continue
      const made = counts.day(first + day)
      made.persons.append(persons.subarray(offsets[day], offsets[day + 1]))
      for (let i = 0; i < made.quarters.length; i++) {
        const events = quarters[day * ofDay + i]!
        made.quarters[i]! += events
        made.events += events
      }
      made.least = Math.min(made.least, least[day]!)
      made.greatest = Math.max(made.greatest, greatest[day]!)
    }
  }
  return counts
}
