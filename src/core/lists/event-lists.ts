import { ChangedLists } from './changed-lists.ts'
import { firstSince } from './first-since.ts'
import { ListNews } from './kept/list-news.ts'
import { type MovingValues, wideEnough } from './list-column.ts'
import type { EventBatch } from './ports.ts'
import { type ArrayType, sharedArray } from './shared-array.ts'

const bytesPerEvent = 13
const bytesPerPerson = 12
/** Free entries after a list that is moved: a share of its events, plus a few. */
const slackShare = 0.25
const slackEvents = 2
/** The same for a list whose number of events is known in advance. */
const expectedSlackShare = 1 / 16
/** Lists that move leave gaps. Above this share of gaps, the columns are compacted. */
const mostGaps = 0.3
/** Records of the log are kept as 32-bit integers. */
export const mostRecords = 2 ** 32 - 1

/**
 * The events of a project as one list per person, ordered by time, with free entries after each list. Events with equal times are in order of arrival.
 * The events of person `p` are at `start[p]` to `end[p]` of all columns.
 */
export class EventLists {
  start: Int32Array = sharedArray(Int32Array, 1024)
  end: Int32Array = sharedArray(Int32Array, 1024)
  /** NaN in free entries. */
  time: Float64Array = sharedArray(Float64Array, 0)
  /** Numbers of names, of as many bytes as they need. */
  event: MovingValues['values'] = sharedArray(Uint8Array, 0)
  /** The event's record of the log. */
  seq: Uint32Array = sharedArray(Uint32Array, 0)
  /** All person numbers are below this. */
  persons = 0
  /** Changes when events come or move. */
  version = 0
  events = 0
  /** Further events of the project, in files. */
  elsewhere = 0
  readonly news = new ListNews(() => this.events + this.elsewhere)
  /** What follows the lists. */
  private watching: readonly ChangedLists[] = []
  /** Persons whose lists have changed since `before` was the last record. */
  private readonly latest = { before: 0, of: this.watch() }
  /** Columns that move together with the events. */
  private readonly attached = new Set<MovingValues>()
  /** The capacity of each person's list, in events. */
  private room: Int32Array = sharedArray(Int32Array, 1024)
  /** Entries of the columns that belong to a list or a gap. */
  used = 0
  private gaps = 0
  private discarded = 0

  /** Bytes that new lists of this many events need. */
  static bytesOf(events: number, persons: number): number {
    return Math.ceil(events * (1 + expectedSlackShare) + persons) * bytesPerEvent + persons * bytesPerPerson
  }

  /** Bytes that the events of some persons take, on average. */
  static bytesOfEvents(events: number): number {
    return Math.ceil(events * (1 + expectedSlackShare) * bytesPerEvent)
  }

  /** Without the attached columns. */
  get bytes(): number {
    return this.capacity * (bytesPerEvent - 1 + this.event.BYTES_PER_ELEMENT) + this.start.length * bytesPerPerson
  }

  /** The length of all columns. */
  get capacity(): number {
    return this.time.length
  }

  /** From now on the column grows and moves together with the lists. */
  attach(column: MovingValues): void {
    this.attached.add(column)
  }

  detach(column: MovingValues): void {
    this.attached.delete(column)
  }

  /**
   * Reserves room in advance for the events of each person, by number: lists that grow bit by bit are moved repeatedly. Folds go through the persons in
   * the same order, and so through memory.
   */
  expect(events: Int32Array): void {
    let length = this.used
    for (const count of events) length += expectedRoom(count)
    this.grow(length)
    this.widen(events.length)
    for (let person = 0; person < events.length; person++) this.reserve(person, events[person]!, expectedRoom(events[person]!))
  }

  /** Adds events to the lists of their persons. Attached columns have no values for them yet. */
  add(batch: EventBatch): void {
    const { person, time, event, seq } = batch
    this.news.add(batch)
    /** For each person whose list is no longer ordered: the number of events at its beginning that still are. */
    const ordered = new Map<number, number>()
    let most = 0
    for (let i = 0; i < event.length; i++) if (event[i]! > most) most = event[i]!
    this.event = wideEnough(this.event, most)
    let { start, end, room, time: times, event: events, seq: seqs } = this
    for (let i = 0; i < person.length; i++) {
      const who = person[i]!
      this.note(who)
      if (who >= this.persons || end[who]! - start[who]! === room[who]!) {
        this.widen(who + 1)
        this.reserve(who, 1)
        ;({ start, end, room, time: times, event: events, seq: seqs } = this)
      }
      const at = end[who]!
      end[who] = at + 1
      times[at] = time[i]!
      events[at] = event[i]!
      seqs[at] = seq[i]!
      if (at > start[who]! && times[at - 1]! > time[i]! && !ordered.has(who)) ordered.set(who, at - start[who]!)
    }
    this.events += person.length
    this.version++
    for (const [who, count] of ordered) this.order(this.start[who]!, this.start[who]! + count, this.end[who]!)
    if (this.gaps > mostGaps * this.used) this.compact()
  }

  /**
   * Takes over events of a person that are older than those here, in order; `fill` writes their values of attached columns. Of events with equal times, they come
   * first. This is no news: they were counted before.
   */
  adopt(person: number, time: Float64Array, event: MovingValues['values'], seq: Uint32Array, fill: (at: number) => void): void {
    this.widen(person + 1)
    this.reserve(person, time.length)
    const [at, known] = [this.start[person]!, this.end[person]!]
    if (known > at) for (const values of this.all()) values.copyWithin(at + time.length, at, known)
    if (event.BYTES_PER_ELEMENT > this.event.BYTES_PER_ELEMENT) this.event = wideEnough(this.event, 2 ** (8 * event.BYTES_PER_ELEMENT) - 1)
    this.time.set(time, at)
    this.event.set(event as never, at)
    this.seq.set(seq, at)
    fill(at)
    this.end[person] = known + time.length
    this.events += time.length
    this.version++
    this.noteAll()
    this.order(at, at + time.length, this.end[person]!)
  }

  /** Moves the events of one person into the list of another. Of events with equal times, those of the survivor come first. */
  merge(merged: number, survivor: number): void {
    if (merged >= this.persons || this.start[merged] === this.end[merged]) return
    this.version++
    this.news.merge(merged, survivor)
    this.note(merged)
    this.note(survivor)
    const [from, to] = [this.start[merged]!, this.end[merged]!]
    this.widen(survivor + 1)
    this.reserve(survivor, to - from)
    const firstNew = this.end[survivor]!
    for (const values of this.all()) values.copyWithin(firstNew, from, to)
    this.time.fill(Number.NaN, from, to)
    this.end[survivor] = firstNew + to - from
    this.gaps += this.room[merged]!
    this.start[merged] = this.end[merged] = this.room[merged] = 0
    this.order(this.start[survivor]!, firstNew, this.end[survivor]!)
  }

  /** Of one event of a person; -1 if there is none. */
  indexOf(person: number, time: number, seq: number): number {
    const end = this.end[person]!
    for (let i = firstSince(this.time, this.start[person]!, end, time); i < end && this.time[i] === time; i++)
      if (this.seq[i] === seq) return i
    return -1
  }

  /** The index of each event after a record of the log, by record minus `seq`; -1 where there is none. */
  indexesAfter(seq: number, last: number): Int32Array {
    const indexes = new Int32Array(Math.max(0, last - seq) + 1).fill(-1)
    const { start, end, seq: seqs, persons, latest } = this
    const changed = seq >= latest.before ? latest.of.all : null
    if (changed) {
      for (const person of changed.keys())
        for (let i = start[person]!; i < end[person]!; i++) if (seqs[i]! > seq) indexes[seqs[i]! - seq] = i
      return indexes
    }
    let greatest = 0
    for (let person = 0; person < persons; person++)
      for (let i = start[person]!; i < end[person]!; i++) {
        const record = seqs[i]!
        if (record > seq) indexes[record - seq] = i
        if (record > greatest) greatest = record
      }
    latest.of.take()
    latest.before = greatest
    return indexes
  }

  /** Notes what changes from now on, until `leave`. */
  watch(): ChangedLists {
    const changes = new ChangedLists()
    this.watching = [...this.watching, changes]
    return changes
  }

  leave(changes: ChangedLists): void {
    this.watching = this.watching.filter((one) => one !== changes)
  }

  /** Before the list of the person changes. */
  private note(person: number): void {
    const [start, end] = person < this.persons ? [this.start[person]!, this.end[person]!] : [0, 0]
    for (const changes of this.watching) changes.note(person, start, end)
  }

  private noteAll(): void {
    for (const changes of this.watching) changes.noteAll()
  }

  private *all() {
    yield this.time
    yield this.event
    yield this.seq
    for (const { values } of this.attached) yield values
  }

  /** The arrays up to their last entry in use, and what else is needed to make the lists again. */
  image(): { readonly shape: ListShape; readonly arrays: readonly ImageArray[] } {
    const { persons, events, used, gaps } = this
    const lists = [this.start, this.end, this.room].map((values) => values.subarray(0, persons))
    const columns = [this.time, this.event, this.seq].map((values) => values.subarray(0, used))
    return { shape: { persons, events, used, gaps, nameBytes: this.event.BYTES_PER_ELEMENT }, arrays: [...lists, ...columns] }
  }

  /** Lists of that shape, and their arrays in the order of `image`, which are still to be filled. */
  static ofShape(shape: ListShape): { readonly lists: EventLists; readonly arrays: readonly ImageArray[] } {
    const lists = new EventLists()
    lists.event = wideEnough(lists.event, 2 ** (8 * shape.nameBytes) - 1)
    lists.widen(shape.persons)
    lists.grow(shape.used + Math.ceil(shape.used * expectedSlackShare))
    const { nameBytes: _, ...counts } = shape
    Object.assign(lists, counts)
    return { lists, arrays: lists.image().arrays }
  }

  /** Bytes of arrays that were replaced since the last call. */
  takeDiscarded(): number {
    const bytes = this.discarded
    this.discarded = 0
    return bytes
  }

  /** Replaces all columns. */
  private replace(make: <V extends MovingValues['values'] | Uint32Array>(values: V) => V): void {
    for (const values of this.all()) this.discarded += values.byteLength
    this.time = make(this.time)
    this.event = make(this.event)
    this.seq = make(this.seq)
    for (const column of this.attached) column.values = make(column.values)
  }

  private widen(persons: number): void {
    this.persons = Math.max(this.persons, persons)
    if (persons <= this.start.length) return
    const length = Math.max(persons, this.start.length * 2)
    this.start = resized(this.start, length)
    this.end = resized(this.end, length)
    this.room = resized(this.room, length)
  }

  /** Makes room for further events of a person. */
  private reserve(person: number, further: number, room = roomFor(this.end[person]! - this.start[person]! + further)): void {
    const [from, to] = [this.start[person]!, this.end[person]!]
    if (further === 0 || to - from + further <= this.room[person]!) return
    this.grow(this.used + room)
    if (to > from) for (const values of this.all()) values.copyWithin(this.used, from, to)
    this.time.fill(Number.NaN, from, to)
    this.gaps += this.room[person]!
    this.start[person] = this.used
    this.end[person] = this.used + to - from
    this.room[person] = room
    this.used += room
  }

  private grow(needed: number): void {
    if (needed <= this.capacity) return
    const length = this.capacity === 0 ? needed : Math.max(needed, Math.ceil(this.capacity * 1.25), 1024)
    const before = this.capacity
    this.replace((values) => resized(values, length))
    this.time.fill(Number.NaN, before)
  }

  /** Removes the gaps: places all lists side by side, with new free entries. */
  private compact(): void {
    this.noteAll()
    const { start, end, room, persons } = this
    const from = start.slice(0, persons)
    this.used = 0
    this.gaps = 0
    for (let person = 0; person < persons; person++) {
      const count = end[person]! - start[person]!
      start[person] = this.used
      end[person] = this.used + count
      room[person] = roomFor(count)
      this.used += room[person]!
    }
    this.replace((values) => {
      const moved = resized(values.subarray(0, 0) as typeof values, this.used)
      for (let person = 0; person < persons; person++) {
        const count = end[person]! - start[person]!
        if (count > 0) moved.set(values.subarray(from[person]!, from[person]! + count), start[person]!)
      }
      return moved
    })
    for (let person = 0; person < persons; person++) this.time.fill(Number.NaN, end[person]!, start[person]! + room[person]!)
  }

  /** Merges the new events of a list, which are in any order, into the existing ones. */
  private order(start: number, firstNew: number, end: number): void {
    const { time } = this
    let isOrdered = true
    for (let i = Math.max(start + 1, firstNew); i < end && isOrdered; i++) isOrdered = time[i - 1]! <= time[i]!
    if (isOrdered) return
    const byTime = Int32Array.from({ length: end - firstNew }, (_, i) => firstNew + i).sort((a, b) => time[a]! - time[b]! || a - b)
    let first = firstNew
    while (first > start && time[first - 1]! > time[byTime[0]!]!) first--
    const order = new Int32Array(end - first)
    let old = first
    let next = 0
    for (let i = 0; i < order.length; i++)
      order[i] = next === byTime.length || (old < firstNew && time[old]! <= time[byTime[next]!]!) ? old++ : byTime[next++]!
    for (const values of this.all()) {
      const ordered = values.slice(first, end)
      for (let i = 0; i < order.length; i++) values[first + i] = ordered[order[i]! - first]!
    }
  }
}

export interface ListShape {
  readonly persons: number
  readonly events: number
  readonly used: number
  readonly gaps: number
  /** Bytes of the number of an event's name. */
  readonly nameBytes: number
}
export type ImageArray = MovingValues['values'] | Uint32Array

const roomFor = (events: number) => (events === 0 ? 0 : events + Math.ceil(events * slackShare) + slackEvents)
const expectedRoom = (events: number) => (events === 0 ? 0 : events + Math.ceil(events * expectedSlackShare))

/** A longer array with the same values at its beginning. */
function resized<V extends MovingValues['values'] | Uint32Array>(values: V, length: number): V {
  const longer = sharedArray(values.constructor as ArrayType<V>, length)
  longer.set(values as never)
  return longer
}
