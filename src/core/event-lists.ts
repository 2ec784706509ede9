import type { EventBatch } from './ports.ts'

const bytesPerEvent = 12
const bytesPerPerson = 12
/** Free entries after a list that is moved: a share of its events, plus a few. */
const slackShare = 0.25
const slackEvents = 2
/** Lists that move leave gaps. Above this share of gaps, the columns are compacted. */
const mostGaps = 0.3

/**
 * The events of a project as one list per person, ordered by time, with free entries after each list. Events with equal times are in order of arrival.
 * The events of person `p` are at `start[p]` to `end[p]` of the columns.
 */
export class EventLists {
  start = new Int32Array(1024)
  end = new Int32Array(1024)
  time = new Float64Array(0)
  event = new Int32Array(0)
  /** All person numbers are below this. */
  persons = 0
  events = 0
  /** The capacity of each person's list, in events. */
  private room = new Int32Array(1024)
  /** Entries of the columns that belong to a list or a gap. */
  private used = 0
  private gaps = 0

  /** Bytes that new lists of this many events need. */
  static bytesOf(events: number, persons: number): number {
    return Math.ceil(events * (1 + slackShare) + persons * slackEvents) * bytesPerEvent + persons * bytesPerPerson
  }

  get bytes(): number {
    return this.time.length * bytesPerEvent + this.start.length * bytesPerPerson
  }

  /** Reserves room in advance for the events of each person: lists that grow bit by bit are moved repeatedly. */
  expect(persons: Int32Array, events: Int32Array): void {
    let length = this.used
    for (const count of events) length += roomFor(count)
    this.grow(length)
    for (let i = 0; i < persons.length; i++) {
      this.widen(persons[i]! + 1)
      this.reserve(persons[i]!, events[i]!)
    }
  }

  /** Adds events to the lists of their persons. */
  add({ person, time, event }: EventBatch): void {
    /** For each person whose list is no longer ordered: the number of events at its beginning that still are. */
    const ordered = new Map<number, number>()
    let { start, end, room, time: times, event: events } = this
    for (let i = 0; i < person.length; i++) {
      const who = person[i]!
      if (who >= this.persons || end[who]! - start[who]! === room[who]!) {
        this.widen(who + 1)
        this.reserve(who, 1)
        ;({ start, end, room, time: times, event: events } = this)
      }
      const at = end[who]!
      end[who] = at + 1
      times[at] = time[i]!
      events[at] = event[i]!
      if (at > start[who]! && times[at - 1]! > time[i]! && !ordered.has(who)) ordered.set(who, at - start[who]!)
    }
    this.events += person.length
    for (const [who, count] of ordered) this.order(this.start[who]!, this.start[who]! + count, this.end[who]!)
    if (this.gaps > mostGaps * this.used) this.compact()
  }

  /** Moves the events of one person into the list of another. Of events with equal times, those of the survivor come first. */
  merge(merged: number, survivor: number): void {
    if (merged >= this.persons || this.start[merged] === this.end[merged]) return
    const count = this.end[merged]! - this.start[merged]!
    this.widen(survivor + 1)
    this.reserve(survivor, count)
    const firstNew = this.end[survivor]!
    this.time.copyWithin(firstNew, this.start[merged]!, this.end[merged]!)
    this.event.copyWithin(firstNew, this.start[merged]!, this.end[merged]!)
    this.end[survivor] = firstNew + count
    this.gaps += this.room[merged]!
    this.start[merged] = this.end[merged] = this.room[merged] = 0
    this.order(this.start[survivor]!, firstNew, this.end[survivor]!)
  }

  private widen(persons: number): void {
    this.persons = Math.max(this.persons, persons)
    if (persons <= this.start.length) return
    const length = Math.max(persons, this.start.length * 2)
    this.start = copied(this.start, new Int32Array(length))
    this.end = copied(this.end, new Int32Array(length))
    this.room = copied(this.room, new Int32Array(length))
  }

  /** Makes room for further events of a person. */
  private reserve(person: number, further: number): void {
    const [from, to] = [this.start[person]!, this.end[person]!]
    const wanted = to - from + further
    if (further === 0 || wanted <= this.room[person]!) return
    const room = roomFor(wanted)
    this.grow(this.used + room)
    this.time.copyWithin(this.used, from, to)
    this.event.copyWithin(this.used, from, to)
    this.gaps += this.room[person]!
    this.start[person] = this.used
    this.end[person] = this.used + to - from
    this.room[person] = room
    this.used += room
  }

  private grow(needed: number): void {
    if (needed <= this.time.length) return
    const length = Math.max(needed, Math.ceil(this.time.length * 1.25), 1024)
    this.time = copied(this.time, new Float64Array(length))
    this.event = copied(this.event, new Int32Array(length))
  }

  /** Removes the gaps: places all lists side by side, with new free entries. */
  private compact(): void {
    const { start, end, room, time, event, persons } = this
    let length = 0
    for (let person = 0; person < persons; person++) length += roomFor(end[person]! - start[person]!)
    this.time = new Float64Array(length)
    this.event = new Int32Array(length)
    this.used = 0
    this.gaps = 0
    for (let person = 0; person < persons; person++) {
      const [from, to] = [start[person]!, end[person]!]
      this.time.set(time.subarray(from, to), this.used)
      this.event.set(event.subarray(from, to), this.used)
      start[person] = this.used
      end[person] = this.used + to - from
      room[person] = roomFor(to - from)
      this.used += room[person]!
    }
  }

  /** Merges the new events of a list, which are in any order, into the existing ones. */
  private order(start: number, firstNew: number, end: number): void {
    const { time, event } = this
    let isOrdered = true
    for (let i = Math.max(start + 1, firstNew); i < end && isOrdered; i++) isOrdered = time[i - 1]! <= time[i]!
    if (isOrdered) return
    const byTime = Array.from({ length: end - firstNew }, (_, i) => firstNew + i).sort((a, b) => time[a]! - time[b]!)
    const times = Float64Array.from(byTime, (i) => time[i]!)
    const events = Int32Array.from(byTime, (i) => event[i]!)
    // From the end, so that existing events move to free entries only.
    let old = firstNew - 1
    let to = end - 1
    for (let next = times.length - 1; next >= 0; to--) {
      if (old >= start && time[old]! > times[next]!) {
        time[to] = time[old]!
        event[to] = event[old--]!
      } else {
        time[to] = times[next]!
        event[to] = events[next--]!
      }
    }
  }
}

const roomFor = (events: number) => (events === 0 ? 0 : events + Math.ceil(events * slackShare) + slackEvents)

function copied<T extends Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
