import type { Place } from './changed-lists.ts'
import type { EventLists } from './event-lists.ts'
import type { ListColumn } from './list-column.ts'
import { sharedArray } from './shared-array.ts'

/**
 * The events of other actors than persons, such as groups or sessions: the entries of each actor in order of time. The columns stay as they are, so that
 * all folds over them can be used. Actor `a` has the entries `entry[start[a]]` to `entry[end[a]]`.
 */
export interface ActorOrder {
  readonly start: Int32Array
  readonly end: Int32Array
  readonly entry: Int32Array
  /** The times of the first and the last event of each actor: most sessions are passed over by these alone. NaN: it has none. */
  readonly firstTime: Float64Array
  readonly lastTime: Float64Array
  /** All actors have numbers below this: those of their texts in the column. */
  readonly actors: number
}

/** Of an actor that outgrows its place: free entries behind its own. */
const roomFor = (events: number) => events + 2 + (events >> 2)
/** What may move: a share of all entries, and of all actors. */
const spareShare = 1 / 8
const fewSpare = 1 << 12
const withSpare = (count: number) => count + Math.ceil(count * spareShare) + fewSpare

export const orderBytes = (events: number, actors: number): number => 4 * withSpare(events) + 28 * withSpare(actors)

const eventsBetweenPauses = 1 << 19

type Actors = Pick<ListColumn, 'values' | 'texts'>

/** An order that follows its lists. */
export class KeptOrder implements ActorOrder {
  actors: number
  private readonly room: Int32Array
  /** Entries that belong to an actor, or did. */
  private used: number

  private constructor(
    readonly start: Int32Array,
    readonly end: Int32Array,
    readonly entry: Int32Array,
    readonly firstTime: Float64Array,
    readonly lastTime: Float64Array,
    actors: number,
    used: number,
  ) {
    this.actors = actors
    this.used = used
    this.room = end.map((last, actor) => last - start[actor]!)
  }

  get bytes(): number {
    const { start, end, room, entry, firstTime, lastTime } = this
    return [start, end, room, entry, firstTime, lastTime].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** `lastSeq`: no event of the lists has a later record. `skipped`: the code of a text that is no actor; -1: none. A loop with pauses. */
  static *of(lists: EventLists, { values, texts }: Actors, lastSeq: number, skipped: number): Generator<void, KeptOrder, void> {
    const byArrival = lists.indexesAfter(0, lastSeq)
    yield
    const most = withSpare(texts.length)
    const [start, end] = [sharedArray(Int32Array, most), sharedArray(Int32Array, most)]
    for (let seq = 0; seq < byArrival.length; seq++) {
      if (byArrival[seq]! >= 0) end[values[byArrival[seq]!]!]!++
      if (seq % eventsBetweenPauses === 0) yield
    }
    let all = 0
    for (let actor = 0; actor < texts.length; actor++) {
      const events = actor === skipped ? 0 : end[actor]!
      start[actor] = end[actor] = all
      all += events
    }
    const entry = sharedArray(Int32Array, withSpare(all))
    for (let seq = 0; seq < byArrival.length; seq++) {
      const index = byArrival[seq]!
      if (index >= 0 && values[index] !== skipped) entry[end[values[index]!]!++] = index
      if (seq % eventsBetweenPauses === 0) yield
    }
    const [firstTime, lastTime] = [sharedArray(Float64Array, most).fill(Number.NaN), sharedArray(Float64Array, most).fill(Number.NaN)]
    const order = new KeptOrder(start, end, entry, firstTime, lastTime, texts.length, all)
    let unpaused = 0
    for (let actor = 0; actor < texts.length; actor++) {
      const [first, last] = [start[actor]!, end[actor]!]
      if (first === last) continue
      orderByTime(entry.subarray(first, last), lists)
      order.noteTimes(actor, lists)
      unpaused += last - first
      if (unpaused < eventsBetweenPauses) continue
      unpaused = 0
      yield
    }
    return order
  }

  /**
   * Takes over what has changed: the events of some persons, who had theirs elsewhere before. False: there is no room, and it has to be made once more. A loop
   * with pauses.
   */
  *follow(
    lists: EventLists,
    { values, texts }: Actors,
    changed: ReadonlyMap<number, Place>,
    skipped: number,
  ): Generator<void, boolean, void> {
    if (texts.length > this.start.length) return false
    this.actors = texts.length
    const { start, end } = this
    const isGone = new Uint8Array(lists.capacity)
    for (const place of changed.values()) isGone.fill(1, place.start, place.end)
    /** The actors with such events, and these one after the other: of each actor a chain. */
    const lastOf = new Map<number, number>()
    const [chain, found]: [number[], number[]] = [[], []]
    for (const person of changed.keys())
      for (let index = lists.start[person]!; index < lists.end[person]!; index++) {
        const actor = values[index]!
        if (actor === skipped) continue
        chain.push(lastOf.get(actor) ?? -1)
        lastOf.set(actor, found.length)
        found.push(index)
      }
    let unpaused = 0
    for (const [actor, last] of lastOf) {
      const entries: number[] = []
      for (let at = start[actor]!; at < end[actor]!; at++) if (isGone[this.entry[at]!] === 0) entries.push(this.entry[at]!)
      for (let at = last; at >= 0; at = chain[at]!) entries.push(found[at]!)
      entries.sort((a, b) => lists.time[a]! - lists.time[b]! || lists.seq[a]! - lists.seq[b]!)
      if (!this.place(actor, entries)) return false
      this.noteTimes(actor, lists)
      unpaused += entries.length
      if (unpaused < eventsBetweenPauses) continue
      unpaused = 0
      yield
    }
    return true
  }

  private place(actor: number, entries: readonly number[]): boolean {
    const { start, end, room, entry } = this
    if (entries.length > room[actor]!) {
      const wanted = roomFor(entries.length)
      if (this.used + wanted > entry.length) return false
      start[actor] = this.used
      room[actor] = wanted
      this.used += wanted
    }
    entry.set(entries, start[actor])
    end[actor] = start[actor]! + entries.length
    return true
  }

  private noteTimes(actor: number, { time }: EventLists): void {
    this.firstTime[actor] = time[this.entry[this.start[actor]!]!]!
    this.lastTime[actor] = time[this.entry[this.end[actor]! - 1]!]!
  }
}

/** Entries in order of arrival: most are in order of time too, and the late ones are merged into the others. */
function orderByTime(entries: Int32Array, { time, seq }: Pick<EventLists, 'time' | 'seq'>): void {
  const late: number[] = []
  let kept = 0
  let last = Number.NEGATIVE_INFINITY
  for (let i = 0; i < entries.length; i++) {
    const index = entries[i]!
    if (time[index]! < last) late.push(index)
    else {
      entries[kept++] = index
      last = time[index]!
    }
  }
  if (late.length === 0) return
  const isBefore = (a: number, b: number) => time[a]! - time[b]! || seq[a]! - seq[b]!
  late.sort(isBefore)
  let next = late.length - 1
  let place = entries.length - 1
  for (let i = kept - 1; next >= 0; place--) {
    if (i >= 0 && isBefore(entries[i]!, late[next]!) > 0) entries[place] = entries[i--]!
    else entries[place] = late[next--]!
  }
}
