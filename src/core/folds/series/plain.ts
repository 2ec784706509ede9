import type { PersonEvents } from '../person-events.ts'
import type { SeriesValue } from './accumulators.ts'
import { Edges } from './edges.ts'

// Series of one group over the events of persons where they are. A person's events are in order of time, so that a table of edges is only asked when a
// bucket has ended.

/** Events that are read between two pauses; a person without any takes time, too. */
const mostRead = 1 << 19
const readPerPerson = 16

/** A number by bucket, as the accumulator of the same value keeps it. Null: nothing was counted. */
export type PlainCounts = Float64Array | null
type Counted = Generator<void, PlainCounts, void>

/** One bucket. */
const everyTime = Float64Array.of(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)

/** Null: this value is counted of copies of the events. */
export function plainSeries(
  events: PersonEvents,
  value: SeriesValue,
  edges: Float64Array | null,
  from: number,
  to: number,
): Counted | null {
  switch (value.kind) {
    case 'events':
    case 'persons':
    case 'sightings':
      return inBuckets(events, value.kind, edges, from, to)
    case 'windows':
      return inWindows(events, value, from, to)
    default:
      return null
  }
}

function* inBuckets(
  events: PersonEvents,
  kind: 'events' | 'persons' | 'sightings',
  buckets: Float64Array | null,
  from: number,
  to: number,
): Counted {
  const starts = buckets ?? everyTime
  const counts = new Float64Array(starts.length - 1)
  const edges = buckets && new Edges(buckets)
  const [countsAll, countsFirst] = [kind === 'events', kind === 'sightings']
  const { steps } = events
  let isEmpty = true
  for (let person = from, read = 0; person < to; person++) {
    if (read >= mostRead) {
      read = 0
      yield
    }
    read += events.open(person) + readPerPerson
    const { time, codes, isUniform, begin, end, allowed } = events
    let bucket = -1
    /** The end of the bucket. */
    let until = Number.NEGATIVE_INFINITY
    for (let i = begin; i < end; i++) {
      if (!isUniform && (steps[codes[i]!]! & allowed) === 0) continue
      const at = time[i]!
      if (at < until) {
        if (countsAll && bucket >= 0) counts[bucket]!++
        continue
      }
      bucket = edges ? edges.countAt(at) - 1 : 0
      if (bucket === counts.length) break
      until = starts[bucket + 1]!
      if (bucket < 0) continue
      counts[bucket]!++
      isEmpty = false
      if (countsFirst) break
    }
  }
  return isEmpty ? null : counts
}

/** By window, the number of persons minus that of the window before. */
function* inWindows(events: PersonEvents, { begins, ends }: Extract<SeriesValue, { kind: 'windows' }>, from: number, to: number): Counted {
  const changes = new Float64Array(begins.length + 1)
  const [beginEdges, endEdges] = [new Edges(begins), new Edges(ends)]
  const { steps } = events
  let isEmpty = true
  for (let person = from, read = 0; person < to; person++) {
    if (read >= mostRead) {
      read = 0
      yield
    }
    read += events.open(person) + readPerPerson
    const { time, codes, isUniform, begin, end, allowed } = events
    /** The windows that have begun are counted. */
    let known = 0
    for (let i = begin; i < end; i++) {
      if (!isUniform && (steps[codes[i]!]! & allowed) === 0) continue
      isEmpty = false
      const at = time[i]!
      if (at < begins[known]!) continue
      const begun = beginEdges.countAt(at)
      const first = endEdges.countAt(at)
      if (first < begun) {
        changes[first > known ? first : known]!++
        changes[begun]!--
      }
      known = begun
      if (known === begins.length) break
    }
  }
  return isEmpty ? null : changes
}
