import { firstSince } from '../../lists/first-since.ts'
import type { CalendarDays } from '../../lists/kept/calendar-days.ts'
import type { DayCount, DayCounts } from '../../lists/kept/day-counts.ts'
import { PersonSet } from '../../lists/kept/person-set.ts'
import type { ColumnView, EventBits, ListView, Matching } from '../fold.ts'
import { bitsOf } from '../matches.ts'
import { type Bits, emptyBits, intersect } from './bits.ts'

// What questions read of the days of a condition.

export interface DaySource {
  readonly lists: ListView
  readonly days: CalendarDays
  /** By bit, as asked. */
  readonly counts: ReadonlyMap<number, DayCounts>
  /** Only events with this code count; null: all. */
  readonly split: { readonly values: ColumnView['values']; readonly code: number } | null
}

/** The persons of a day. */
export interface AskedDay {
  readonly start: number
  readonly persons: PersonSet
}

/** Days that are cut by the asked time: their events are looked at. */
const mostCut = 2

/** The days of a bit, with the persons who have events between the asked times. Null: too many events would have to be looked at. */
export function askedDays(
  source: DaySource,
  bit: number,
  { from, to, bits }: Pick<Matching, 'from' | 'to' | 'bits'>,
): readonly AskedDay[] | null {
  const days: AskedDay[] = []
  let cut = 0
  for (const day of source.counts.get(bit)!.all) {
    if (day.greatest < from || day.least > to) continue
    if (day.least >= from && day.greatest <= to) days.push(day)
    else if (++cut > mostCut || source.lists.pages) return null
    else days.push({ start: day.start, persons: personsOf(source, day, bit, bits, from, to) })
  }
  return days
}

function personsOf(source: DaySource, day: DayCount, bit: number, bits: EventBits, from: number, to: number): PersonSet {
  const found = new PersonSet()
  for (const person of day.persons)
    if (eventsBetween(source, person, bit, bits, Math.max(from, day.start), Math.min(to, day.end - 1), 1) > 0) found.add(person)
  return found
}

/** Of one person, whatever the person is; at most `most`. */
function eventsBetween(
  { lists: { start, end, time, event }, split }: DaySource,
  person: number,
  bit: number,
  bits: EventBits,
  from: number,
  to: number,
  most = Number.POSITIVE_INFINITY,
): number {
  let events = 0
  const last = end[person]!
  for (let i = firstSince(time, start[person]!, last, from); i < last && time[i]! <= to && events < most; i++)
    if ((bitsOf(bits, event[i]!, i, person) & bit) !== 0 && (split === null || split.values[i] === split.code)) events++
  return events
}

/** The number of events of a day between two times, both included. */
export function countBetween(source: DaySource, day: DayCount, bit: number, bits: EventBits, from: number, to: number): number {
  let events = 0
  for (const person of day.persons) events += eventsBetween(source, person, bit, bits, from, to)
  return events
}

/** The conditions of a bit that only the name and columns of the event decide. */
export const ofEvents = (bits: EventBits): EventBits => ({ ...bits, flags: bits.flags.filter(({ of }) => of === 'event') })

/** Persons who may meet a bit, by block. Null: all. */
export type PersonFilter = ((block: number) => Bits) | null

/** Flags as bits, by block. An array of flags does not change once it is read. */
const known = new WeakMap<object, Bits[]>()

function flagBits(flags: ColumnView['values'], block: number): Bits {
  const blocks = known.get(flags) ?? []
  known.set(flags, blocks)
  blocks[block] ??= bitsOfFlags(flags, block)
  return blocks[block]
}

function bitsOfFlags(flags: ColumnView['values'], block: number): Bits {
  const bits = emptyBits()
  const first = block * 32 * bits.length
  const last = Math.min(first + 32 * bits.length, flags.length)
  for (let person = first; person < last; person++) if (flags[person] === 1) bits[(person - first) >>> 5]! |= 1 << (person & 31)
  return bits
}

/** Persons who meet the conditions of a bit that concern them. */
export function personFilter({ flags }: EventBits, bit: number): PersonFilter {
  const columns = flags.filter((flag) => flag.of === 'person' && (flag.bits & bit) !== 0).map(({ column }) => column.values)
  if (columns.length === 0) return null
  return (block) => {
    const [first, ...others] = columns.map((values) => flagBits(values, block))
    if (others.length === 0) return first!
    const bits = first!.slice()
    for (const other of others) intersect(bits, other)
    return bits
  }
}

/** Of each bucket, the days that begin in it. Null: it begins or ends within a day. */
export function daysOfBuckets(
  { days }: DaySource,
  asked: readonly AskedDay[],
  edges: Float64Array,
): readonly (readonly AskedDay[])[] | null {
  for (const edge of edges) if (Number.isFinite(edge) && !days.isStart(edge)) return null
  let at = 0
  while (at < asked.length && asked[at]!.start < edges[0]!) at++
  return Array.from({ length: edges.length - 1 }, (_, i) => {
    const first = at
    while (at < asked.length && asked[at]!.start < edges[i + 1]!) at++
    return asked.slice(first, at)
  })
}

/** The number of blocks that any day has. */
export const blocksOf = (days: readonly AskedDay[]): number => days.reduce((most, { persons }) => Math.max(most, persons.blocks.length), 0)
