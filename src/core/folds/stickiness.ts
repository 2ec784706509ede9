import type { Fold, Matching } from './fold.ts'
import { Matches } from './matches.ts'
import { Edges } from './series/edges.ts'

// In how many intervals persons have enough events.

export interface StickinessParams {
  readonly matching: Matching
  /** The starts of the intervals, and the end of the last one. */
  readonly edges: Float64Array
  /** The most intervals that are counted. */
  readonly size: number
  /** Events of an interval that counts. */
  readonly least: number
  readonly most: number
}

/** The number of persons by their number of intervals less one. */
export const stickinessFold: Fold<StickinessParams, Float64Array> = {
  name: 'stickiness',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, { matching, edges: bounds, size, least, most }, from, to) {
    const counts = new Float64Array(size)
    const matches = new Matches(matching)
    const edges = new Edges(bounds)
    let bucketOf = new Int32Array(0)
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      if (bucketOf.length < matches.index.length) bucketOf = new Int32Array(matches.index.length)
      edges.count(matches, bucketOf, { less: 1, outside: -1 })
      for (let at = 0; at < matches.persons; at++) {
        const end = matches.offsets[at + 1]!
        let intervals = 0
        for (let row = matches.offsets[at]!; row < end; ) {
          const bucket = bucketOf[row]!
          const first = row
          do row++
          while (row < end && bucketOf[row] === bucket)
          if (bucket >= 0 && row - first >= least && row - first <= most) intervals++
        }
        if (intervals > 0) counts[intervals - 1]!++
      }
      yield
    }
    return counts
  },
  join(parts) {
    const counts = parts[0]!.slice()
    for (const part of parts.slice(1)) for (let i = 0; i < counts.length; i++) counts[i]! += part[i]!
    return counts
  },
}
