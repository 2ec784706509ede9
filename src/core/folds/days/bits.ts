import { type Block, blockWords } from '../../lists/kept/person-set.ts'
import { kernelsFor } from '../../simd/kernels.ts'

// Sets of persons of one block as bits.

const blockBits = 32 * blockWords

export type Bits = Uint32Array

export const emptyBits = (): Bits => new Uint32Array(blockWords)

/** The number of bits of a word. */
export const ones = (word: number): number => {
  let n = word - ((word >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Adds the persons of a block. */
export function unite(bits: Bits, block: Block | undefined): void {
  if (!block) return
  if (block.bits) uniteBits(bits, block.bits)
  else for (let i = 0; i < block.count; i++) bits[block.listed![i]! >>> 5]! |= 1 << (block.listed![i]! & 31)
}

export function uniteBits(bits: Bits, other: Bits): void {
  const simd = kernelsFor(blockBits)
  if (simd) {
    simd.or(bits, other)
    return
  }
  for (let i = 0; i < blockWords; i++) bits[i]! |= other[i]!
}

export function intersect(bits: Bits, other: Bits): void {
  const simd = kernelsFor(blockBits)
  if (simd) {
    simd.and(bits, other)
    return
  }
  for (let i = 0; i < blockWords; i++) bits[i]! &= other[i]!
}

export function count(bits: Bits): number {
  const simd = kernelsFor(blockBits)
  if (simd) return simd.count(bits)
  let all = 0
  for (let i = 0; i < blockWords; i++) all += ones(bits[i]!)
  return all
}

export function countOfBoth(bits: Bits, other: Bits): number {
  const simd = kernelsFor(blockBits)
  if (simd) return simd.countBoth(bits, other)
  let all = 0
  for (let i = 0; i < blockWords; i++) all += ones(bits[i]! & other[i]!)
  return all
}

export function countOfEither(bits: Bits, other: Bits): number {
  const simd = kernelsFor(blockBits)
  if (simd) return simd.countEither(bits, other)
  let all = 0
  for (let i = 0; i < blockWords; i++) all += ones(bits[i]! | other[i]!)
  return all
}

/** Removes those of `seen`, and adds the others to them. */
export function keepNew(bits: Bits, seen: Bits): void {
  const simd = kernelsFor(blockBits)
  if (simd) {
    simd.fresh(bits, seen)
    return
  }
  for (let i = 0; i < blockWords; i++) {
    const fresh = bits[i]! & ~seen[i]!
    bits[i] = fresh
    seen[i]! |= fresh
  }
}

/** How many persons of a block meet the filter. */
export function countOf(block: Block | undefined, filter: Bits | null): number {
  if (!block) return 0
  if (filter === null) return block.count
  if (block.bits) return countOfBoth(block.bits, filter)
  let all = 0
  for (let i = 0; i < block.count; i++) {
    const person = block.listed![i]!
    all += (filter[person >>> 5]! >>> (person & 31)) & 1
  }
  return all
}
