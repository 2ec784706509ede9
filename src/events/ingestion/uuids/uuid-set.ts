import { hashWords } from './words.ts'

/** A set of uuids in one typed array: 16 bytes each, at most half full. */
export class UuidSet {
  private table: Uint32Array
  private mask: number
  private hasZero = false
  size = 0

  constructor(expected = 1024) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(16, expected * 2)))
    this.table = new Uint32Array(slots * 4)
    this.mask = slots - 1
  }

  has(key: Uint32Array, at: number): boolean {
    if (isZero(key, at)) return this.hasZero
    return !isZero(this.table, this.slot(key, at))
  }

  add(key: Uint32Array, at: number): void {
    if (isZero(key, at)) {
      if (!this.hasZero) this.size++
      this.hasZero = true
      return
    }
    const slot = this.slot(key, at)
    if (!isZero(this.table, slot)) return
    copyWords(key, at, this.table, slot)
    this.size++
    if (this.size * 2 > this.mask + 1) this.grow()
  }

  /** All members, four words each, in no particular order. */
  records(): Uint32Array {
    const records = new Uint32Array(this.size * 4)
    let next = this.hasZero ? 4 : 0
    for (let i = 0; i < this.table.length; i += 4) {
      if (isZero(this.table, i)) continue
      copyWords(this.table, i, records, next)
      next += 4
    }
    return records
  }

  private slot(key: Uint32Array, at: number): number {
    const { table, mask } = this
    for (let i = hashWords(key, at) & mask; ; i = (i + 1) & mask) {
      const slot = i * 4
      if (
        isZero(table, slot) ||
        (table[slot] === key[at] && table[slot + 1] === key[at + 1] && table[slot + 2] === key[at + 2] && table[slot + 3] === key[at + 3])
      )
        return slot
    }
  }

  private grow(): void {
    const old = this.table
    this.table = new Uint32Array(old.length * 2)
    this.mask = this.mask * 2 + 1
    for (let i = 0; i < old.length; i += 4) if (!isZero(old, i)) copyWords(old, i, this.table, this.slot(old, i))
  }
}

const isZero = (words: Uint32Array, at: number): boolean => (words[at]! | words[at + 1]! | words[at + 2]! | words[at + 3]!) === 0

/** A view for each of them would cost more than the rest. */
function copyWords(from: Uint32Array, at: number, to: Uint32Array, slot: number): void {
  to[slot] = from[at]!
  to[slot + 1] = from[at + 1]!
  to[slot + 2] = from[at + 2]!
  to[slot + 3] = from[at + 3]!
}
