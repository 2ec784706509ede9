import type { Fold, Matching, PlacedColumn } from './fold.ts'
import { Matches } from './matches.ts'
import { Edges } from './series/edges.ts'

// How many actors are new, still there, back or gone in each interval.

export interface LifecycleParams {
  readonly matching: Matching
  /** The starts of the intervals, and the end of the last one. The first interval lies before those that are counted. */
  readonly edges: Float64Array
  /** When each actor was created, in seconds. */
  readonly created: PlacedColumn
}

/** Actors by interval, without the first one. */
export interface LifecycleCounts {
  /** Active in the interval that they were created in. */
  readonly fresh: Float64Array
  /** Active as in the interval before. */
  readonly returning: Float64Array
  /** Active, and not in the interval before. */
  readonly resurrecting: Float64Array
  /** Not active any more. */
  readonly dormant: Float64Array
}

export const noLifecycle = (intervals: number): LifecycleCounts => ({
  fresh: new Float64Array(intervals),
  returning: new Float64Array(intervals),
  resurrecting: new Float64Array(intervals),
  dormant: new Float64Array(intervals),
})

/** The interval that an actor was created in; negative: none. */
export function creation({ column: { values, numbers } }: PlacedColumn, edges: Float64Array): (actor: number) => number {
  const table = new Edges(edges)
  const last = edges.length - 1
  return (actor) => {
    const created = (numbers ? numbers[values[actor]!]! : values[actor]!) * 1e6
    const interval = Number.isNaN(created) ? -1 : table.countAt(created) - 1
    return interval === last ? -1 : interval
  }
}

export const lifecycleFold: Fold<LifecycleParams, LifecycleCounts> = {
  name: 'lifecycle',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, { matching, edges: bounds, created }, from, to) {
    const matches = new Matches(matching)
    const edges = new Edges(bounds)
    const createdIn = creation(created, bounds)
    const intervals = bounds.length - 1
    const counts = noLifecycle(intervals - 1)
    let intervalOf = new Int32Array(0)
    for (let next = from; next < to; ) {
      next = matches.fill(lists, next, to)
      if (intervalOf.length < matches.index.length) intervalOf = new Int32Array(matches.index.length)
      edges.count(matches, intervalOf, { less: 1, outside: -1 })
      for (let at = 0; at < matches.persons; at++) {
        let last = -2
        let first = -2
        for (let row = matches.offsets[at]!; row < matches.offsets[at + 1]!; row++) {
          const interval = intervalOf[row]!
          if (interval < 0 || interval === last) continue
          if (first === -2) first = createdIn(matches.person[at]!)
          if (last >= 0 && last + 1 < interval) counts.dormant[last]!++
          if (interval > 0)
            (interval === first ? counts.fresh : interval === last + 1 ? counts.returning : counts.resurrecting)[interval - 1]!++
          last = interval
        }
        if (last >= 0 && last + 1 < intervals) counts.dormant[last]!++
      }
      yield
    }
    return counts
  },
  join(parts) {
    const all = noLifecycle(parts[0]!.fresh.length)
    for (const part of parts)
      for (const status of ['fresh', 'returning', 'resurrecting', 'dormant'] as const)
        for (let i = 0; i < all[status].length; i++) all[status][i]! += part[status][i]!
    return all
  },
}
