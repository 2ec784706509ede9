import { blockWords } from '../../lists/kept/person-set.ts'
import { creation, type LifecycleCounts, type LifecycleParams, noLifecycle } from '../lifecycle.ts'
import { askedDays, blocksOf, type DaySource, daysOfBuckets, ofEvents, personFilter } from './asked-days.ts'
import { emptyBits, intersect, ones, unite } from './bits.ts'

// Who is new, still there, back or gone, from the sets of days: each interval is compared with the one before.

const counted = 1

export function* dayLifecycle(
  source: DaySource,
  { matching, edges, created }: LifecycleParams,
): Generator<void, LifecycleCounts | null, void> {
  const asked = askedDays(source, counted, { ...matching, bits: ofEvents(matching.bits) })
  const intervals = asked && daysOfBuckets(source, asked, edges)
  if (!intervals) return null
  const filter = personFilter(matching.bits, counted)
  const createdIn = creation(created, edges)
  const counts = noLifecycle(intervals.length - 1)
  const personsInBlock = 32 * blockWords
  for (let block = 0; block < blocksOf(asked); block++) {
    const allowed = filter?.(block) ?? null
    const fresh = intervals.map(() => null as Uint32Array | null)
    for (let person = 0; person < personsInBlock; person++) {
      const interval = createdIn(block * personsInBlock + person)
      if (interval <= 0) continue
      fresh[interval] ??= emptyBits()
      fresh[interval]![person >>> 5]! |= 1 << (person & 31)
    }
    let [before, now] = [emptyBits(), emptyBits()]
    for (const [i, days] of intervals.entries()) {
      now.fill(0)
      for (const { persons } of days) unite(now, persons.blocks[block])
      if (allowed) intersect(now, allowed)
      if (i > 0) compare(counts, i - 1, before, now, fresh[i] ?? null)
      ;[before, now] = [now, before]
      if (i % 32 === 31) yield
    }
    yield
  }
  return counts
}

function compare(counts: LifecycleCounts, interval: number, before: Uint32Array, now: Uint32Array, created: Uint32Array | null): void {
  let [fresh, returning, resurrecting, dormant] = [0, 0, 0, 0]
  for (let i = 0; i < blockWords; i++) {
    const [was, is] = [before[i]!, now[i]!]
    if ((was | is) === 0) continue
    const made = created === null ? 0 : created[i]!
    fresh += ones(is & made)
    returning += ones(is & ~made & was)
    resurrecting += ones(is & ~made & ~was)
    dormant += ones(was & ~is)
  }
  counts.fresh[interval]! += fresh
  counts.returning[interval]! += returning
  counts.resurrecting[interval]! += resurrecting
  counts.dormant[interval]! += dormant
}
