import type { EventLists } from './event-lists.ts'
import { firstSince } from './first-since.ts'

// Folds that count persons: each list is read once, without a lookup of persons.

/** Which events count. */
export interface Counted {
  /** By number of the event's name. Names beyond the end count if `others` is set. */
  readonly events: Int32Array
  readonly others: number
  /** Microseconds, both included. */
  readonly from: number
  readonly to: number
}

const eventsBetweenPauses = 1 << 19

/** The number of persons with an event in each bucket. `edges`: the starts of the buckets, and the end of the last one. */
export function* personsByBucket(lists: EventLists, counted: Counted, edges: Float64Array): Generator<void, Float64Array, void> {
  const { start, end, time, event, persons } = lists
  const { events, others, from, to } = counted
  const counts = new Float64Array(Math.max(0, edges.length - 1))
  let unpaused = 0
  for (let person = 0; person < persons; person++) {
    const last = end[person]!
    let bucket = 0
    let seen = -1
    for (let i = firstSince(time, start[person]!, last, from); i < last; i++) {
      const at = time[i]!
      if (at > to) break
      const id = event[i]!
      if ((id < events.length ? events[id]! : others) === 0 || at < edges[0]!) continue
      while (bucket < counts.length && at >= edges[bucket + 1]!) bucket++
      if (bucket === counts.length) break
      if (bucket === seen) continue
      counts[bucket]!++
      seen = bucket
    }
    unpaused += last - start[person]!
    if (unpaused < eventsBetweenPauses) continue
    unpaused = 0
    yield
  }
  return counts
}

/** The number of persons with an event in each window. Windows may overlap; each starts and ends after the previous one. */
export function* personsByWindow(
  lists: EventLists,
  counted: Counted,
  begins: Float64Array,
  ends: Float64Array,
): Generator<void, Float64Array, void> {
  const { start, end, time, event, persons } = lists
  const { events, others, from, to } = counted
  /** By window: the number of persons minus that of the previous window. */
  const changes = new Float64Array(begins.length + 1)
  let unpaused = 0
  for (let person = 0; person < persons; person++) {
    const last = end[person]!
    let first = 0
    let begun = 0
    /** The person is accounted for in all windows before this one. */
    let counted = 0
    for (let i = firstSince(time, start[person]!, last, from); i < last; i++) {
      const at = time[i]!
      if (at > to) break
      const id = event[i]!
      if ((id < events.length ? events[id]! : others) === 0) continue
      while (first < ends.length && ends[first]! <= at) first++
      while (begun < begins.length && begins[begun]! <= at) begun++
      const next = Math.max(first, counted)
      if (next >= begun) continue
      changes[next]!++
      changes[begun]!--
      counted = begun
    }
    unpaused += last - start[person]!
    if (unpaused < eventsBetweenPauses) continue
    unpaused = 0
    yield
  }
  const counts = changes.slice(0, -1)
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!
  return counts
}

/** The number of persons with an event. */
export function* personsInAll(lists: EventLists, counted: Counted): Generator<void, number, void> {
  const edges = Float64Array.of(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  return (yield* personsByBucket(lists, counted, edges))[0]!
}
