import { blockWords } from '../../lists/kept/person-set.ts'
import type { StickinessParams } from '../stickiness.ts'
import { askedDays, blocksOf, type DaySource, daysOfBuckets, ofEvents, personFilter } from './asked-days.ts'
import { type Bits, emptyBits, intersect, unite } from './bits.ts'

// In how many intervals persons are active, from the sets of their days.

const counted = 1

/** Where one event of an interval is enough. */
export const isAnyEvent = ({ least, most }: StickinessParams): boolean => least <= 1 && most === Number.POSITIVE_INFINITY

export function* dayStickiness(source: DaySource, { matching, edges, size }: StickinessParams): Generator<void, Float64Array | null, void> {
  const asked = askedDays(source, counted, { ...matching, bits: ofEvents(matching.bits) })
  const intervals = asked && daysOfBuckets(source, asked, edges)
  if (!intervals) return null
  const filter = personFilter(matching.bits, counted)
  const counts = new Float64Array(size)
  const active = emptyBits()
  for (let block = 0; block < blocksOf(asked); block++) {
    const allowed = filter?.(block) ?? null
    const adder = new Adder(intervals.length)
    for (const days of intervals) {
      active.fill(0)
      for (const { persons } of days) unite(active, persons.blocks[block])
      if (allowed) intersect(active, allowed)
      adder.add(active)
    }
    adder.countInto(counts)
    yield
  }
  return counts
}

/** A number for each person of a block, bit by bit: one is added to many persons at once. */
class Adder {
  /** The lowest bits of all numbers, then the next ones. */
  private readonly planes: readonly Bits[]

  constructor(most: number) {
    this.planes = Array.from({ length: Math.max(1, 32 - Math.clz32(most)) }, emptyBits)
  }

  add(bits: Bits): void {
    const { planes } = this
    for (let word = 0; word < blockWords; word++) {
      let carried = bits[word]!
      for (let plane = 0; carried !== 0; plane++) {
        const before = planes[plane]![word]!
        planes[plane]![word] = before ^ carried
        carried &= before
      }
    }
  }

  /** Adds the persons by their number less one. */
  countInto(counts: Float64Array): void {
    const { planes } = this
    for (let word = 0; word < blockWords; word++) {
      let any = 0
      for (const plane of planes) any |= plane[word]!
      for (; any !== 0; any &= any - 1) {
        const bit = 31 - Math.clz32(any & -any)
        let number = 0
        for (let plane = 0; plane < planes.length; plane++) number |= ((planes[plane]![word]! >>> bit) & 1) << plane
        counts[number - 1]!++
      }
    }
  }
}
