import type { RetentionParams, RetentionPart } from '../retention.ts'
import {
  type AskedDay,
  askedDays,
  blocksOf,
  type DaySource,
  daysOfBuckets,
  ofEvents,
  type PersonFilter,
  personFilter,
} from './asked-days.ts'
import { type Bits, count, countOfBoth, emptyBits, intersect, keepNew, unite, uniteBits } from './bits.ts'

// Who returns after a start, from the sets of days: the persons of a start and of a return are two sets, and those who returned are in both.

const starts = 1
const returns = 2

/** Actors are only counted, once in each interval, and intervals are the same for all. */
export const isOfDays = ({ type, splits, number, hasWindows, minimum, isCumulative }: RetentionParams): boolean =>
  type !== 'first ever' && splits.length === 0 && number === null && !hasWindows && minimum <= 1 && !isCumulative

/** Pairs of ticks. More of them take longer than the events. */
const mostPairs = 10_000

export function* dayRetention(source: DaySource, params: RetentionParams): Generator<void, RetentionPart | null, void> {
  const { matching, type, from, ticks, rows, columns, rowOf } = params
  const all = ticks.length - 1
  if ((all * all) / 2 > mostPairs || (type === 'first time' && from !== ticks[0])) return null
  const bits = ofEvents(matching.bits)
  const [started, returned] = [askedDays(source, starts, { ...matching, bits }), askedDays(source, returns, { ...matching, bits })]
  if (!started || !returned) return null
  const [startsIn, returnsIn] = [daysOfBuckets(source, started, ticks), daysOfBuckets(source, returned, ticks)]
  if (!startsIn || !returnsIn) return null
  const before = type === 'first time' ? started.filter(({ start }) => start < ticks[0]!) : []
  const [startFilter, returnFilter] = [personFilter(matching.bits, starts), personFilter(matching.bits, returns)]
  const counts = new Float64Array(rows * columns)
  for (let block = 0; block < blocksOf([...started, ...returned]); block++) {
    const starting = yield* bitsOfTicks(startsIn, block, startFilter)
    const returning = yield* bitsOfTicks(returnsIn, block, returnFilter)
    if (type === 'first time') {
      const seen = united(before, block)
      for (const some of starting) if (some) keepNew(some, seen)
    }
    for (let tick = 0; tick < all; tick++) {
      const some = starting[tick]
      if (!some) continue
      const row = rowOf[tick]! * columns
      counts[row]! += count(some)
      countReturns(counts, row, some, returning, tick, params)
      yield
    }
  }
  return { combinations: [0], counts, amounts: null }
}

/** Adds those who start in a tick and return in one of the intervals after it. */
function countReturns(
  counts: Float64Array,
  row: number,
  starting: Bits,
  returning: readonly (Bits | null)[],
  tick: number,
  { width, columnOf }: RetentionParams,
): void {
  let column = 0
  /** Those who return in the ticks of the column. */
  let union: Bits | null = null
  let isOwn = false
  const finish = () => {
    if (union !== null && column > 0) counts[row + column]! += countOfBoth(starting, union)
    union = null
    isOwn = false
  }
  for (let at = tick + 1; at < returning.length; at++) {
    const offset = Math.floor((at - tick) / width)
    const next = offset < columnOf.length ? columnOf[offset]! : 0
    if (next !== column) finish()
    column = next
    const some = returning[at]
    if (next === 0 || !some) continue
    if (union === null) union = some
    else {
      if (!isOwn) union = (union as Bits).slice()
      isOwn = true
      uniteBits(union, some)
    }
  }
  finish()
}

/** The persons of each tick. Null: there are none. */
function* bitsOfTicks(
  ticks: readonly (readonly AskedDay[])[],
  block: number,
  filter: PersonFilter,
): Generator<void, readonly (Bits | null)[], void> {
  const allowed = filter?.(block) ?? null
  const found: (Bits | null)[] = []
  for (const [i, days] of ticks.entries()) {
    const hasAny = days.some(({ persons }) => (persons.blocks[block]?.count ?? 0) > 0)
    const bits = hasAny ? united(days, block) : null
    if (bits && allowed) intersect(bits, allowed)
    found.push(bits)
    if (i % 32 === 31) yield
  }
  return found
}

function united(days: readonly AskedDay[], block: number): Bits {
  const bits = emptyBits()
  for (const { persons } of days) unite(bits, persons.blocks[block])
  return bits
}
