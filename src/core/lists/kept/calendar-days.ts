import { day, type Micros, type Zone, zoneOf } from '../../../lib/time/zone.ts'

/** The days of a time zone. They are numbered from 1970-01-01 on; a few are shorter or longer than 24 hours. */
export class CalendarDays {
  readonly zone: Zone
  private readonly starts = new Map<number, Micros>()
  /** The day of the last time that was asked for: the next one is probably the same. */
  private last = { number: Number.NaN, start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY }

  constructor(zone: Zone) {
    this.zone = zone
  }

  startOf(number: number): Micros {
    const known = this.starts.get(number)
    if (known !== undefined) return known
    const start = this.zone.toInstant(number * day)
    this.starts.set(number, start)
    return start
  }

  numberAt(time: Micros): number {
    const { last } = this
    if (time >= last.start && time < last.end) return last.number
    let number = Math.floor(this.zone.toWall(time) / day)
    while (time < this.startOf(number)) number--
    while (time >= this.startOf(number + 1)) number++
    this.last = { number, start: this.startOf(number), end: this.startOf(number + 1) }
    return number
  }

  /** Whether a day starts then. */
  isStart(time: Micros): boolean {
    return this.startOf(this.numberAt(time)) === time
  }

  /** The starts of some days, and the end of the last one. */
  edges(first: number, last: number): Float64Array {
    return Float64Array.from({ length: last - first + 2 }, (_, i) => this.startOf(first + i))
  }
}

const known = new Map<string, CalendarDays>()

export function calendarDaysOf(zone: string): CalendarDays {
  const days = known.get(zone) ?? new CalendarDays(zoneOf(zone))
  known.set(zone, days)
  return days
}
