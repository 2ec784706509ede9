import type { SumState } from '../../../lib/numbers/sums.ts'
import { type DayCount, type KeptNumber, quarter } from '../../lists/kept/day-counts.ts'
import { QuarterNumbers } from '../../lists/kept/quarter-numbers.ts'
import type { PlacedColumn } from '../fold.ts'
import type { SeriesValue } from '../series/accumulators.ts'
import type { Series, SeriesPart } from '../series/fold.ts'
import { numbersInOrder, widthOf, writeSpread } from '../series/spread.ts'
import { askedDays, blocksOf, countBetween, type DaySource, daysOfBuckets, ofEvents, personFilter } from './asked-days.ts'
import { type Bits, count, countOf, countOfEither, emptyBits, intersect, keepNew, unite, uniteBits } from './bits.ts'

// Series from days: events from the counts of their quarters of an hour, persons from the sets of their days.

const counted = 1
type Counts = Generator<void, Float64Array | null, void>

/** Split by one column at most, and nothing but events or persons is counted. Events of some persons only are not counted by day. */
export const readsDays = (series: Series): boolean => {
  const { splits, value, matching } = series
  if (splits.length > 1 || splits.some(({ of }) => of !== 'event')) return false
  if (value.kind === 'persons' || value.kind === 'sightings' || value.kind === 'windows') return true
  return (value.kind === 'events' || numbersOf(series) !== null) && matching.bits.flags.every(({ of }) => of === 'event')
}

const ofQuarters: ReadonlySet<unknown> = new Set(['sum', 'avg', 'min', 'max'])

/** The numbers of events whose sum, extreme or quantiles are asked; null: something else is counted. */
export function numbersOf({ value }: Series): { readonly of: PlacedColumn; readonly kept: KeptNumber } | null {
  if (value.kind === 'numbers' && ofQuarters.has(value.reduction) && value.number.of === 'event') return { of: value.number, kept: 'sums' }
  return value.kind === 'quantiles' && value.order !== null && value.number.of === 'event' ? { of: value.number, kept: 'codes' } : null
}

export function* daySeries(sources: readonly DaySource[], series: Series): Generator<void, SeriesPart | null, void> {
  if (series.value.kind === 'quantiles') return yield* dayQuantiles(sources, series, series.value)
  if (numbersOf(series)) return yield* dayNumbers(sources, series)
  const combinations: number[] = []
  const found: Float64Array[] = []
  for (const [code, source] of sources.entries()) {
    const counts = yield* countsOf(source, series)
    if (counts === null) return null
    if (counts.every((n) => n === 0)) continue
    combinations.push(code)
    found.push(counts)
  }
  return { combinations, state: oneAfterTheOther(found) }
}

/** A code with events has a row, whether one of them has a number or not. */
function* dayNumbers(sources: readonly DaySource[], series: Series): Generator<void, SeriesPart | null, void> {
  const combinations: number[] = []
  const found: QuarterNumbers[] = []
  for (const [code, source] of sources.entries()) {
    const numbers = new QuarterNumbers((series.edges ?? everyTime).length - 1)
    const counts = yield* eventsOf(source, series, numbers)
    if (counts === null) return null
    if (counts.every((n) => n === 0)) continue
    combinations.push(code)
    found.push(numbers)
  }
  const extreme = series.value.kind === 'numbers' && series.value.reduction
  if (extreme === 'min' || extreme === 'max') {
    const field = extreme === 'min' ? 'least' : 'greatest'
    return { combinations, state: oneAfterTheOther(found.map((numbers) => numbers[field])) }
  }
  const all = (field: keyof SumState) => oneAfterTheOther(found.map(({ sums }) => sums[field]))
  return { combinations, state: { sums: all('sums'), lost: all('lost'), counts: all('counts') } satisfies SumState }
}

/** Quantiles of the codes of whole days. */
function* dayQuantiles(
  sources: readonly DaySource[],
  series: Series,
  { order, spread }: Extract<SeriesValue, { kind: 'quantiles' }>,
): Generator<void, SeriesPart | null, void> {
  const { rank, numbers } = order!
  const combinations: number[] = []
  const found: Float64Array[] = []
  /** Behind all numbers: events without one. */
  const counts = new Uint32Array(numbers.length + 1)
  for (const [code, source] of sources.entries()) {
    const buckets = wholeDays(source, series)
    if (buckets === null) return null
    if (buckets.every(({ length }) => length === 0)) continue
    const results = new Float64Array(buckets.length * widthOf(spread))
    for (const [cell, days] of buckets.entries()) {
      if (days.length === 0) continue
      counts.fill(0)
      let events = 0
      for (const { codes } of days) {
        codes!.addTo(counts, rank)
        events += codes!.length
      }
      const count = events - counts[numbers.length]!
      if (count > 0) yield* writeSpread(results, cell, spread, numbersInOrder(counts, numbers, count))
      yield
    }
    combinations.push(code)
    found.push(results)
  }
  return { combinations, state: oneAfterTheOther(found), isFinished: true }
}

/** The days of each bucket. Null: a bucket, or the asked time, has a part of the events of a day. */
function wholeDays(source: DaySource, { matching: { from, to }, edges: given }: Series): readonly (readonly DayCount[])[] | null {
  const edges = given ?? everyTime
  const buckets: DayCount[][] = Array.from({ length: edges.length - 1 }, () => [])
  let bucket = 0
  for (const day of source.counts.get(counted)!.all) {
    if (day.greatest < from || day.least > to) continue
    while (bucket < buckets.length && edges[bucket + 1]! <= day.least) bucket++
    if (bucket === buckets.length) break
    if (day.greatest < edges[bucket]!) continue
    const isWhole = day.least >= Math.max(from, edges[bucket]!) && day.greatest <= Math.min(to, edges[bucket + 1]! - 1)
    if (!isWhole) return null
    buckets[bucket]!.push(day)
  }
  return buckets
}

function oneAfterTheOther(found: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(found.reduce((length, { length: more }) => length + more, 0))
  let at = 0
  for (const one of found) {
    all.set(one, at)
    at += one.length
  }
  return all
}

function countsOf(source: DaySource, series: Series): Counts {
  const { value } = series
  if (value.kind === 'events') return eventsOf(source, series)
  return value.kind === 'windows' ? windowsOf(source, series, value) : personsOf(source, series, value.kind === 'sightings')
}

/** Edges of a bucket of all times. */
const everyTime = Float64Array.of(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
/** Parts of days that are no whole quarters. */
const mostCut = 2

/** `numbers`: theirs, by bucket. */
function* eventsOf(source: DaySource, { matching, edges: given }: Series, numbers: QuarterNumbers | null = null): Counts {
  const edges = given ?? everyTime
  const bits = ofEvents(matching.bits)
  const found = new Float64Array(edges.length - 1)
  let bucket = 0
  let cut = 0
  for (const day of source.counts.get(counted)!.all) {
    while (bucket < found.length && edges[bucket + 1]! <= day.start) bucket++
    for (let i = bucket; i < found.length && edges[i]! < day.end; i++) {
      const from = Math.max(edges[i]!, matching.from, day.start)
      const to = Math.min(edges[i + 1]!, matching.to + 1, day.end)
      if (from > day.greatest || to <= day.least || from >= to) continue
      const isAll = from <= day.least && to > day.greatest
      if (isAll) {
        found[i]! += day.events
        if (numbers) addQuarters(numbers, i, day, 0, day.quarters.length)
        continue
      }
      const first = from <= day.least ? 0 : (from - day.start) / quarter
      const end = to > day.greatest ? day.quarters.length : (to - day.start) / quarter
      if (Number.isInteger(first) && Number.isInteger(end)) {
        for (let q = first; q < end; q++) found[i]! += day.quarters[q]!
        if (numbers) addQuarters(numbers, i, day, first, end)
      } else if (++cut > mostCut || source.lists.pages || numbers) return null
      else found[i]! += countBetween(source, day, counted, bits, from, to - 1)
      yield
    }
  }
  return found
}

function addQuarters(numbers: QuarterNumbers, bucket: number, day: DayCount, first: number, end: number): void {
  for (let q = first; q < end; q++) numbers.addCell(bucket, day.numbers!, q)
}

function* personsOf(source: DaySource, { matching, edges }: Series, isFirst: boolean): Counts {
  const bits = ofEvents(matching.bits)
  const asked = askedDays(source, counted, { ...matching, bits })
  const buckets = asked && daysOfBuckets(source, asked, edges ?? everyTime)
  if (!buckets) return null
  const filter = personFilter(matching.bits, counted)
  const found = new Float64Array(buckets.length)
  const bucketBits = emptyBits()
  for (let block = 0; block < blocksOf(asked); block++) {
    const allowed = filter?.(block) ?? null
    const seen = isFirst ? emptyBits() : null
    for (const [i, days] of buckets.entries()) {
      if (days.length === 0) continue
      if (days.length === 1 && seen === null) {
        found[i]! += countOf(days[0]!.persons.blocks[block], allowed)
        continue
      }
      bucketBits.fill(0)
      for (const { persons } of days) unite(bucketBits, persons.blocks[block])
      if (allowed) intersect(bucketBits, allowed)
      if (seen) keepNew(bucketBits, seen)
      found[i]! += count(bucketBits)
    }
    yield
  }
  return found
}

/** By window, the number of persons minus that of the window before. */
function* windowsOf(
  source: DaySource,
  { matching }: Series,
  { begins, ends }: { readonly begins: Float64Array; readonly ends: Float64Array },
): Counts {
  const { days } = source
  const asked = askedDays(source, counted, { ...matching, bits: ofEvents(matching.bits) })
  if (!asked || [begins, ends].some((times) => times.some((time) => !days.isStart(time)))) return null
  const filter = personFilter(matching.bits, counted)
  const before = (time: number) => {
    const at = asked.findIndex(({ start }) => start >= time)
    return at < 0 ? asked.length : at
  }
  const windows = Array.from(begins, (begin, i) => [before(begin), before(ends[i]!)] as const)
  const changes = new Float64Array(begins.length + 1)
  const sliding = new SlidingUnion()
  for (let block = 0; block < blocksOf(asked); block++) {
    const allowed = filter?.(block) ?? null
    sliding.begin((day) => {
      const bits = sliding.spare()
      unite(bits, asked[day]!.persons.blocks[block])
      if (allowed) intersect(bits, allowed)
      return bits
    })
    let last = 0
    for (const [i, [from, to]] of windows.entries()) {
      const persons = sliding.countOf(from, to)
      changes[i]! += persons - last
      last = persons
      if (i % 32 === 31) yield
    }
    changes[windows.length]! -= last
    yield
  }
  return changes
}

/**
 * The union of a window of days that only moves forward. The days of the window are in two parts: of the older ones the unions with all later ones of their part are
 * known, of the newer ones the union of all. So each day is united twice, however wide the window is.
 */
class SlidingUnion {
  private read: (day: number) => Bits = emptyBits
  /** By day, from `first` up to `middle`. */
  private older: Bits[] = []
  private readonly newer = emptyBits()
  private first = 0
  private middle = 0
  private end = 0
  private readonly pool: Bits[] = []

  begin(read: (day: number) => Bits): void {
    this.read = read
    this.reset(0)
  }

  spare(): Bits {
    const bits = this.pool.pop()
    if (!bits) return emptyBits()
    bits.fill(0)
    return bits
  }

  countOf(from: number, to: number): number {
    if (from >= to) return 0
    if (from >= this.end) this.reset(from)
    for (; this.end < to; this.end++) {
      const day = this.read(this.end)
      uniteBits(this.newer, day)
      this.pool.push(day)
    }
    while (this.first < from && this.first < this.middle) {
      this.pool.push(this.older.pop()!)
      this.first++
    }
    if (from >= this.middle) this.turn(from)
    const oldest = this.older.at(-1)
    return oldest ? countOfEither(oldest, this.newer) : count(this.newer)
  }

  /** All days become older ones. */
  private turn(from: number): void {
    this.pool.push(...this.older)
    this.older = []
    for (let day = this.end - 1; day >= from; day--) {
      const bits = this.read(day)
      const later = this.older.at(-1)
      if (later) uniteBits(bits, later)
      this.older.push(bits)
    }
    this.newer.fill(0)
    this.first = from
    this.middle = this.end
  }

  private reset(from: number): void {
    this.pool.push(...this.older)
    this.older = []
    this.newer.fill(0)
    this.first = this.middle = this.end = from
  }
}
