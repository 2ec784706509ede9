import { minute } from '../../../lib/time/zone.ts'
import type { CalendarDays } from './calendar-days.ts'
import { CodeCounts } from './code-counts.ts'
import { PersonSet } from './person-set.ts'
import { QuarterNumbers } from './quarter-numbers.ts'

export const quarter = 15 * minute

/** What is kept of a number of each event: its sums and extremes, or how often each code of it occurs. */
export type KeptNumber = 'sums' | 'codes'

/** Of the events of one day that meet a condition. */
export interface DayCount {
  readonly number: number
  readonly start: number
  readonly end: number
  readonly persons: PersonSet
  /** The number of events by quarter of an hour. */
  readonly quarters: Uint32Array
  /** Of a number of each event, by quarter of an hour; null: they are not asked. */
  readonly numbers: QuarterNumbers | null
  /** Of the codes of such a number, on the whole day; null: they are not asked. */
  readonly codes: CodeCounts | null
  events: number
  /** Between these times, both included, are all of them. */
  least: number
  greatest: number
}

/** For one condition on events, and each code of a column that splits them; without one there is code 0. */
export class SplitCounts {
  readonly days: CalendarDays
  /** Null: no number is looked at. */
  readonly number: KeptNumber | null
  /** By code. */
  readonly byCode: DayCounts[] = []

  constructor(days: CalendarDays, number: KeptNumber | null = null) {
    this.days = days
    this.number = number
  }

  get bytes(): number {
    return this.byCode.reduce((sum, counts) => sum + counts.bytes, 0)
  }

  /** Each event has one code. */
  get events(): number {
    return this.byCode.reduce((sum, counts) => sum + counts.events, 0)
  }

  of(code: number): DayCounts {
    while (this.byCode.length <= code) this.byCode.push(new DayCounts(this.days, this.number))
    return this.byCode[code]!
  }

  merge(merged: number, survivor: number): void {
    for (const counts of this.byCode) counts.merge(merged, survivor)
  }
}

/** For one condition on events: how many meet it in each quarter of an hour, and which persons have some on each day. */
export class DayCounts {
  readonly days: CalendarDays
  private readonly number: KeptNumber | null
  private readonly byNumber = new Map<number, DayCount>()
  private inOrder: readonly DayCount[] | null = null

  constructor(days: CalendarDays, number: KeptNumber | null = null) {
    this.days = days
    this.number = number
  }

  get bytes(): number {
    let bytes = 0
    for (const { persons, quarters, numbers, codes } of this.byNumber.values())
      bytes += 160 + persons.bytes + quarters.byteLength + (numbers?.bytes ?? 0) + (codes?.bytes ?? 0)
    return bytes
  }

  get events(): number {
    let events = 0
    for (const day of this.byNumber.values()) events += day.events
    return events
  }

  /** In order of time. Days without an event are left out. */
  get all(): readonly DayCount[] {
    this.inOrder ??= [...this.byNumber.values()].sort((a, b) => a.number - b.number)
    return this.inOrder
  }

  /** An empty one, if there is none. */
  day(number: number): DayCount {
    const known = this.byNumber.get(number)
    if (known) return known
    const [start, end] = [this.days.startOf(number), this.days.startOf(number + 1)]
    const quarters = new Uint32Array(Math.ceil((end - start) / quarter))
    const [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    const numbers = this.number === 'sums' ? new QuarterNumbers(quarters.length) : null
    const codes = this.number === 'codes' ? new CodeCounts() : null
    const made: DayCount = { number, start, end, persons: new PersonSet(), quarters, numbers, codes, events: 0, least, greatest }
    this.byNumber.set(number, made)
    this.inOrder = null
    return made
  }

  /** `value`: the number of the event, or its code, if one is asked. */
  add(person: number, time: number, value = Number.NaN): void {
    const day = this.day(this.days.numberAt(time))
    day.persons.add(person)
    const at = Math.floor((time - day.start) / quarter)
    day.quarters[at]!++
    day.numbers?.add(at, value)
    day.codes?.add(value)
    day.events++
    if (time < day.least) day.least = time
    if (time > day.greatest) day.greatest = time
  }

  merge(merged: number, survivor: number): void {
    for (const { persons } of this.byNumber.values()) if (persons.remove(merged)) persons.add(survivor)
  }
}
