import type { Fold, ListView, Matching, PlacedColumn } from '../fold.ts'
import { Matches } from '../matches.ts'
import { PersonEvents } from '../person-events.ts'
import { accumulatorOf, type SeriesValue } from './accumulators.ts'
import { Edges } from './edges.ts'
import { combinationsOf, Groups } from './groups.ts'
import { plainSeries } from './plain.ts'

// A series over the lists: the matching events of some persons, their buckets and groups, and what is counted of them, block by block.

export interface Series {
  readonly matching: Matching
  /** The starts of the buckets, and the end of the last one; null for one number. */
  readonly edges: Float64Array | null
  /** Codes of the texts that the series is split by. */
  readonly splits: readonly PlacedColumn[]
  readonly value: SeriesValue
}

/** What some threads have counted. Null: there are too many groups or numbers. */
export type SeriesPart = {
  /** For each group, its codes as one number: of the last split plus those before it times the number of texts of the last one. */
  readonly combinations: readonly number[]
  readonly state: unknown
  /** The state is the numbers of each group already. */
  readonly isFinished?: true
} | null

/** Buckets of all groups together. */
const mostCells = 1 << 22
/** Numbers that quantiles keep. */
const mostKept = 1 << 23

/** The first bucket begins with the first edge; times outside of all buckets get a negative number. */
const bucketNumbers = { less: 1, outside: -1 }

const isRolling = ({ value }: Series) => value.kind === 'windows'
const sizeOf = ({ value, edges }: Series): number => (value.kind === 'windows' ? value.begins.length : edges ? edges.length - 1 : 1)

/** A series that counts persons, or asks something of them. */
export const seriesFold: Fold<Series, SeriesPart> = {
  name: 'series',
  over: 'persons',
  conditions: ({ matching }) => matching,
  fasterFor: (series) => (readsEventsOnly(series) ? entriesFold : null),
  *run(lists, series, from, to) {
    const { selection } = lists
    if (selection && readsEventsOnly(series)) {
      const { used } = selection
      const hasOthers = !isCovered(series)
      return yield* counted(lists, series, 0, used, (matches, row) => matches.take(selection, row, used), hasOthers)
    }
    const events = series.splits.length > 0 ? null : PersonEvents.of(lists, series.matching, to)
    const plain = events && plainSeries(events, series.value, series.edges, from, to)
    if (!plain) return yield* counted(lists, series, from, to, (matches, person) => matches.fill(lists, person, to))
    const counts = yield* plain
    return { combinations: counts ? [0] : [], state: counts ?? new Float64Array(0) }
  },
  join: joinedParts,
}

/** A series that only asks for events and their values: one pass over the columns. */
export const entriesFold: Fold<Series, SeriesPart> = {
  name: 'series of entries',
  over: 'entries',
  run: (lists, series, from, to) => counted(lists, series, from, to, (matches, entry) => matches.fillEntries(lists, entry, to)),
  join: joinedParts,
}

function readsEventsOnly({ matching, splits, value }: Series): boolean {
  const { scope, bits, further, takesAll } = matching
  const hasNumbers = value.kind === 'numbers' || value.kind === 'quantiles'
  const countsEvents = value.kind === 'events' || (hasNumbers && value.number.of === 'event')
  const isOfEvents = [...bits.flags, ...splits].every(({ of }) => of === 'event')
  return countsEvents && isOfEvents && scope === null && further === null && !takesAll
}

function* counted(
  lists: ListView,
  series: Series,
  from: number,
  to: number,
  fill: (matches: Matches, next: number) => number,
  hasOthers = false,
): Generator<void, SeriesPart, void> {
  const groups = Groups.of(series.splits)
  if (!groups) return null
  const edges = isRolling(series) || !series.edges ? null : new Edges(series.edges)
  const size = sizeOf(series)
  const accumulator = accumulatorOf(series.value, size, combinationsOf(series.splits))
  const matches = new Matches(series.matching)
  let bucketOf = new Int32Array(0)
  let groupOf = new Int32Array(0)
  for (let next = from; next < to; ) {
    next = fill(matches, next)
    if (bucketOf.length < matches.index.length) {
      bucketOf = new Int32Array(matches.index.length)
      groupOf = new Int32Array(matches.index.length)
    }
    accumulator.select?.(lists, matches)
    if (edges) edges.count(matches, bucketOf, bucketNumbers)
    else if (hasOthers) bucketOf.fill(0)
    if (hasOthers) leaveOutOthers(matches, series.matching, bucketOf)
    groups.number(matches, bucketOf, groupOf)
    if (groups.count * size > mostCells) return null
    accumulator.grow(groups.count)
    accumulator.add(matches, bucketOf, groupOf, lists)
    if (accumulator.kept > mostKept) return null
    yield
  }
  return { combinations: groups.combinations, state: accumulator.state(groups.count) }
}

/** No event of another time than the asked one is in a bucket. */
const isCovered = ({ matching: { from, to }, edges }: Series) => edges !== null && from <= edges[0]! && to >= edges.at(-1)! - 1

/** Events of another time than the asked one are in no bucket. */
function leaveOutOthers({ rows, time }: Matches, { from, to }: Matching, bucketOf: Int32Array): void {
  const least = Math.max(from, -Number.MAX_VALUE) // free entries are before any time
  for (let row = 0; row < rows; row++) bucketOf[row] = time[row]! >= least && time[row]! <= to ? bucketOf[row]! : -1
}

function joinedParts(parts: readonly SeriesPart[], series: Series): SeriesPart {
  if (parts.length === 1) return parts[0]!
  const joined = new Joined(series)
  for (const part of parts) if (!part || !joined.add(part)) return null
  return { combinations: joined.combinations, state: joined.accumulator.state(joined.combinations.length) }
}

export interface SeriesGroup {
  readonly combination: number
  readonly data: readonly number[]
}

/** The numbers of each group: of each bucket one, or several of a spread. A loop with pauses. */
export function* seriesData(part: NonNullable<SeriesPart>, series: Series): Generator<void, readonly SeriesGroup[], void> {
  const data = part.isFinished ? (part.state as Float64Array) : yield* finished(part, series)
  const size = data.length / part.combinations.length
  return part.combinations.map((combination, group) => ({
    combination,
    data: Array.from(data.subarray(group * size, (group + 1) * size), (value) => (Number.isFinite(value) ? value : 0)),
  }))
}

function* finished(part: NonNullable<SeriesPart>, series: Series): Generator<void, Float64Array, void> {
  const joined = new Joined(series)
  joined.add(part)
  if (joined.accumulator.prepare) yield* joined.accumulator.prepare(part.combinations.length)
  return joined.accumulator.finish(part.combinations.length)
}

class Joined {
  readonly combinations: number[] = []
  readonly accumulator
  private readonly numbers = new Map<number, number>()
  private readonly size: number
  private isEmpty = true

  constructor(series: Series) {
    this.size = sizeOf(series)
    this.accumulator = accumulatorOf(series.value, this.size, combinationsOf(series.splits))
  }

  /** False if that is too much. */
  add({ combinations, state }: NonNullable<SeriesPart>): boolean {
    const groupOf = Int32Array.from(combinations, (combination) => {
      const known = this.numbers.get(combination)
      if (known !== undefined) return known
      this.numbers.set(combination, this.combinations.length)
      return this.combinations.push(combination) - 1
    })
    if (this.combinations.length * this.size > mostCells) return false
    if (this.isEmpty) this.accumulator.restore(state)
    else {
      this.accumulator.grow(this.combinations.length)
      this.accumulator.absorb(state, groupOf)
    }
    this.isEmpty = false
    return this.accumulator.kept <= mostKept
  }
}
