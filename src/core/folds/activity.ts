import { Ints } from '../kernels/grow.ts'
import type { Fold, Matching } from './fold.ts'
import { joined } from './joined.ts'
import { Matches } from './matches.ts'
import { Edges } from './series/edges.ts'

// In which buckets persons are active.

export interface ActivityParams {
  readonly matching: Matching
  /** The starts of the buckets, and the end of the last one. */
  readonly edges: Float64Array
}

/** One row per person and bucket, in order of both. */
export interface ActivityRows {
  readonly person: Int32Array
  readonly bucket: Int32Array
}

export const activityFold: Fold<ActivityParams, ActivityRows> = {
  name: 'activity',
  over: 'persons',
  conditions: ({ matching }) => matching,
  *run(lists, { matching, edges: bounds }, from, to) {
    const matches = new Matches(matching)
    const edges = new Edges(bounds)
    const [persons, buckets] = [new Ints(), new Ints()]
    let bucketOf = new Int32Array(0)
    for (let person = from; person < to; ) {
      person = matches.fill(lists, person, to)
      if (bucketOf.length < matches.index.length) bucketOf = new Int32Array(matches.index.length)
      edges.count(matches, bucketOf, { less: 1, outside: -1 })
      for (let at = 0; at < matches.persons; at++) {
        let last = -1
        for (let row = matches.offsets[at]!; row < matches.offsets[at + 1]!; row++) {
          if (bucketOf[row]! <= last) continue
          last = bucketOf[row]!
          persons.push(matches.person[at]!)
          buckets.push(last)
        }
      }
      yield
    }
    return { person: persons.view().slice(), bucket: buckets.view().slice() }
  },
  join: (results) => ({
    person: joined(results.map(({ person }) => person)),
    bucket: joined(results.map(({ bucket }) => bucket)),
  }),
}
