import { blockWords } from '../../lists/kept/person-set.ts'
import { creation, type LifecycleCounts, type LifecycleParams, noLifecycle } from '../lifecycle.ts'
import { askedDays, blocksOf, type DaySource, daysOfBuckets, ofEvents, personFilter } from './asked-days.ts'
import { count, emptyBits, intersect, ones, unite } from './bits.ts'

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
    let active = 0
    for (const [i, days] of intervals.entries()) {
      now.fill(0)
      for (const { persons } of days) unite(now, persons.blocks[block])
      if (allowed) intersect(now, allowed)
      active = i > 0 ? compare(counts, i - 1, before, active, now, fresh[i] ?? null) : count(now)
      ;[before, now] = [now, before]
      if (i % 32 === 31) yield
    }
    yield
  }
  return counts
}

/** Returns how many are active now. `active`: how many were before. */
function compare(
  counts: LifecycleCounts,
  interval: number,
  before: Uint32Array,
  active: number,
  now: Uint32Array,
  created: Uint32Array | null,
): number {
  let [all, both, fresh, freshInBoth] = [0, 0, 0, 0]
  for (let i = 0; i < blockWords; i++) {
    const is = now[i]!
    if (is === 0) continue
    const isAndWas = is & before[i]!
    all += ones(is)
    both += ones(isAndWas)
    const made = created === null ? 0 : created[i]!
    if (made === 0) continue
    fresh += ones(is & made)
    freshInBoth += ones(isAndWas & made)
  }
  const returning = both - freshInBoth
  counts.fresh[interval]! += fresh
  counts.returning[interval]! += returning
  counts.resurrecting[interval]! += all - fresh - returning
  counts.dormant[interval]! += active - both
  return all
}
