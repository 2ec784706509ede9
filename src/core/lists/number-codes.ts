import { sharedArray } from './shared-array.ts'

const mostNumbers = 1 << 16

/** Assigns a code to each distinct number, from 0, in order of first occurrence. NaN counts as one number. */
export class NumberCodes {
  /** By code. Threads read them without a copy. */
  numbers: Float64Array = sharedArray(Float64Array, 256)
  length = 0
  /** Codes plus 1 by hash; 0: free. */
  private slots = new Int32Array(1024)
  private readonly number = new Float64Array(1)
  private readonly halves = new Int32Array(this.number.buffer)

  /** -1: there are too many distinct numbers. */
  code(value: number): number {
    this.number[0] = value === 0 ? 0 : value // one zero
    const [low, high] = [this.halves[0]!, this.halves[1]!]
    const mask = this.slots.length - 1
    let slot = (Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 15) & mask
    for (;;) {
      const code = this.slots[slot]! - 1
      if (code < 0) break
      if (this.numbers[code] === value || (Number.isNaN(value) && Number.isNaN(this.numbers[code]!))) return code
      slot = (slot + 1) & mask
    }
    if (this.length === mostNumbers) return -1
    if (this.length === this.numbers.length) this.grow()
    this.numbers[this.length++] = this.number[0]!
    this.slots[slot] = this.length
    if (this.length * 2 > this.slots.length) this.rehash()
    return this.length - 1
  }

  private grow(): void {
    const longer = sharedArray(Float64Array, this.numbers.length * 2)
    longer.set(this.numbers)
    this.numbers = longer
  }

  private rehash(): void {
    const numbers = this.numbers.subarray(0, this.length)
    this.slots = new Int32Array(this.slots.length * 4)
    this.length = 0
    for (const value of numbers) this.code(value)
  }
}
