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

export const orderBytes = (events: number, actors: number): number => 4 * events + 24 * actors

const eventsBetweenPauses = 1 << 19

/** `lastSeq`: no event of the lists has a later record. `skipped`: the code of a text that is no actor; -1: none. */
export function* orderByActor(
  lists: EventLists,
  { values, texts }: Pick<ListColumn, 'values' | 'texts'>,
  lastSeq: number,
  skipped: number,
): Generator<void, ActorOrder, void> {
  const byArrival = lists.indexesAfter(0, lastSeq)
  yield
  const start = sharedArray(Int32Array, texts.length)
  const end = sharedArray(Int32Array, texts.length)
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
  const entry = sharedArray(Int32Array, all)
  for (let seq = 0; seq < byArrival.length; seq++) {
    const index = byArrival[seq]!
    if (index >= 0 && values[index] !== skipped) entry[end[values[index]!]!++] = index
    if (seq % eventsBetweenPauses === 0) yield
  }
  const firstTime = sharedArray(Float64Array, texts.length).fill(Number.NaN)
  const lastTime = sharedArray(Float64Array, texts.length).fill(Number.NaN)
  let unpaused = 0
  for (let actor = 0; actor < texts.length; actor++) {
    const [first, last] = [start[actor]!, end[actor]! - 1]
    if (first > last) continue
    orderByTime(entry.subarray(first, last + 1), lists)
    firstTime[actor] = lists.time[entry[first]!]!
    lastTime[actor] = lists.time[entry[last]!]!
    unpaused += last - first + 1
    if (unpaused < eventsBetweenPauses) continue
    unpaused = 0
    yield
  }
  return { start, end, entry, firstTime, lastTime, actors: texts.length }
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
