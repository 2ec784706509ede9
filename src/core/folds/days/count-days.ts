import { Ints } from '../../kernels/grow.ts'
import type { CalendarDays } from '../../lists/kept/calendar-days.ts'
import { CodeCounts, type CodesState } from '../../lists/kept/code-counts.ts'
import { quarter, SplitCounts } from '../../lists/kept/day-counts.ts'
import { type EventCondition, numberAt } from '../../lists/kept/kept-counts.ts'
import { type NumbersState, QuarterNumbers } from '../../lists/kept/quarter-numbers.ts'
import type { ColumnView, EventBits, Fold, ListView } from '../fold.ts'
import { Matches } from '../matches.ts'
import { Edges } from '../series/edges.ts'

// Counts the events of a condition by day, so that the next questions only read these counts.

export interface CountDaysParams {
  /** Bit 0 is the condition. */
  readonly bits: EventBits
  /** The starts of all days with an event, and the end of the last one. */
  readonly edges: Float64Array
  /** Codes that split the events, of so many; null: none do. */
  readonly split: { readonly values: ColumnView['values']; readonly size: number } | null
  /** Numbers that are looked at; null: none are. */
  readonly number: EventCondition['number']
}

/** By code and then by day: of each code as many as there are edges less one. */
interface CountedDays {
  /** The persons of each in order, one after the other: those of `d` are from `offsets[d]` to `offsets[d + 1]`. */
  readonly persons: Int32Array
  readonly offsets: Int32Array
  /** Events by quarter of an hour, `quartersOf` of each. */
  readonly quarters: Uint32Array
  /** The same of the sums of numbers. */
  readonly numbers: NumbersState | null
  /** The codes of numbers; of a day without an event undefined. */
  readonly codes: readonly (CodesState | undefined)[] | null
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
  *run(lists, { bits, edges, split, number }, from, to) {
    const ofCode = edges.length - 1
    const codes = split?.size ?? 1
    const days = codes * ofCode
    const ofDay = quartersOf(edges)
    const quarters = new Uint32Array(days * ofDay)
    const numbers = number?.kept === 'sums' ? new QuarterNumbers(days * ofDay) : null
    const codesOf: CodeCounts[] | null = number?.kept === 'codes' ? [] : null
    const least = new Float64Array(days).fill(Number.POSITIVE_INFINITY)
    const greatest = new Float64Array(days).fill(Number.NEGATIVE_INFINITY)
    const [rows, dayOf] = [new Ints(), new Ints()]
    const whole = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, scope: null, bits, further: null, takesAll: false }
    const matches = new Matches(whole)
    const table = new Edges(edges)
    /** By code, the last day of the person. */
    const last = new Int32Array(codes)
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      const { time, offsets, index } = matches
      for (let at = 0; at < matches.persons; at++) {
        let day = -1
        let until = Number.NEGATIVE_INFINITY
        last.fill(-1)
        for (let row = offsets[at]!; row < offsets[at + 1]!; row++) {
          const when = time[row]!
          if (when >= until) {
            day = table.countAt(when) - 1
            until = edges[day + 1]!
          }
          const code = split === null ? 0 : split.values[index[row]!]!
          const cell = code * ofCode + day
          if (last[code] !== day) {
            last[code] = day
            rows.push(matches.person[at]!)
            dayOf.push(cell)
            if (when < least[cell]!) least[cell] = when
          }
          const cellOfQuarter = cell * ofDay + Math.floor((when - edges[day]!) / quarter)
          quarters[cellOfQuarter]!++
          if (numbers !== null) numbers.add(cellOfQuarter, numberAt(number!, index[row]!))
          if (codesOf !== null) {
            codesOf[cell] ??= new CodeCounts()
            codesOf[cell].add(numberAt(number!, index[row]!))
          }
          if (when > greatest[cell]!) greatest[cell] = when
        }
      }
      yield
    }
    const found = {
      numbers: numbers && stateOf(numbers),
      codes: codesOf && Array.from({ length: days }, (_, day) => codesState(codesOf[day])),
    }
    return [{ ...byDay(rows.view(), dayOf.view(), days), quarters, ...found, least, greatest }]
  },
  join: (parts) => parts.flat(),
}

/** Plain data: it goes from thread to thread. */
const stateOf = ({ sums: { sums, lost, counts }, least, greatest }: QuarterNumbers): NumbersState => ({
  sums: { sums, lost, counts },
  least,
  greatest,
})

const codesState = (codes: CodeCounts | undefined): CodesState | undefined =>
  codes && { length: codes.length, listed: codes.listed?.slice(0, codes.length) ?? null, counts: codes.counts }

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

/** Days, and days of all codes, that are too many are not worth it. */
const mostDays = 50_000
const mostDaysOfCodes = 20_000
const mostDaysOfNumbers = 4_000

/** The starts of the days of all events, and the end of the last one. Null: there are none, or far too many days. A loop with pauses. */
export function* edgesOfAll(
  { start, end, time, persons, pages }: ListView,
  days: CalendarDays,
  codes: number,
  hasNumber: boolean,
): Generator<void, Float64Array | null, void> {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { least, greatest } of pages?.pages ?? []) {
    first = Math.min(first, least)
    last = Math.max(last, greatest)
  }
  for (let person = 0; person < persons; person++) {
    if (person % 65_536 === 65_535) yield
    if (start[person] === end[person]) continue
    first = Math.min(first, time[start[person]!]!)
    last = Math.max(last, time[end[person]! - 1]!)
  }
  const most = hasNumber ? mostDaysOfNumbers / codes : codes === 1 ? mostDays : mostDaysOfCodes / codes
  if (first > last || (last - first) / 86_400e6 > most) return null
  return days.edges(days.numberAt(first), days.numberAt(last))
}

/** What the fold has counted. A loop with pauses. */
export function* dayCounts(
  parts: readonly CountedDays[],
  { edges, split, number }: CountDaysParams,
  days: CalendarDays,
): Generator<void, SplitCounts, void> {
  const all = new SplitCounts(days, number?.kept ?? null)
  const ofDay = quartersOf(edges)
  const first = days.numberAt(edges[0]!)
  const ofCode = edges.length - 1
  for (let day = 0; day < ofCode * (split?.size ?? 1); day++) {
    if (day % 16 === 15) yield
    const counts = all.of(Math.floor(day / ofCode))
    for (const { persons, offsets, quarters, numbers, codes, least, greatest } of parts) {
      if (offsets[day] === offsets[day + 1]) continue
      const made = counts.day(first + (day % ofCode))
      made.persons.append(persons.subarray(offsets[day], offsets[day + 1]))
      for (let i = 0; i < made.quarters.length; i++) {
        const events = quarters[day * ofDay + i]!
        made.quarters[i]! += events
        made.events += events
        if (numbers) made.numbers!.addCell(i, numbers, day * ofDay + i)
      }
      const codesOfDay = codes?.[day]
      if (codesOfDay) made.codes!.addAll(codesOfDay)
      made.least = Math.min(made.least, least[day]!)
      made.greatest = Math.max(made.greatest, greatest[day]!)
    }
  }
  return all
}
