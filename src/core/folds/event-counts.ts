import { Ints } from '../kernels/grow.ts'
import { keepFirsts } from './first-times.ts'
import type { Fold, Matching } from './fold.ts'
import { joined } from './joined.ts'
import { Matches } from './matches.ts'

// How many events persons have that count, and who they are.

export interface EventCountsParams {
  readonly matching: Matching
  /** Only the first event of each person counts, as in a series of first times; null: all. */
  readonly firstSince: number | null
  /** Microseconds, both included. */
  readonly from: number
  readonly to: number
  /** The bit of events that count. */
  readonly counted: number
}

/** One row per person. */
export interface EventCounts {
  readonly person: Int32Array
  readonly count: Int32Array
}

export const eventCountsFold: Fold<EventCountsParams, EventCounts> = {
  name: 'event counts',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, { matching, firstSince, from: first, to: last, counted }, from, to) {
    const matches = new Matches(matching)
    const [persons, counts] = [new Ints(), new Ints()]
    for (let next = from; next < to; ) {
      next = matches.fill(lists, next, to)
      if (firstSince !== null) keepFirsts(lists, matches, firstSince)
      const { person, offsets, time, bits } = matches
      for (let at = 0; at < matches.persons; at++) {
        let count = 0
        for (let row = offsets[at]!; row < offsets[at + 1]!; row++)
          if ((bits[row]! & counted) !== 0 && time[row]! >= first && time[row]! <= last) count++
        if (count === 0) continue
        persons.push(person[at]!)
        counts.push(count)
      }
      yield
    }
    return { person: persons.view().slice(), count: counts.view().slice() }
  },
  join: (results) => ({
    person: joined(results.map(({ person }) => person)),
    count: joined(results.map(({ count }) => count)),
  }),
}
