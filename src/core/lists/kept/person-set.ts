/** Person numbers are kept in blocks of this many. */
const blockSize = 1 << 16
const blockShift = 16
const inBlock = blockSize - 1
/** Words of a block as bits. */
export const blockWords = blockSize >>> 5
/** Above this many numbers, bits take less memory than a list. */
const mostListed = blockSize >>> 4
const fewListed = 8

/** Some of the persons of a block: a list of numbers in order while they are few, otherwise one bit for each person. */
export interface Block {
  count: number
  /** The first `count` are in use. */
  listed: Uint16Array | null
  bits: Uint32Array | null
}

/** A set of person numbers. */
export class PersonSet {
  /** By number of the block. */
  readonly blocks: (Block | undefined)[] = []
  size = 0

  get bytes(): number {
    let bytes = 8 * this.blocks.length
    for (const block of this.blocks) if (block) bytes += 64 + (block.listed?.byteLength ?? block.bits!.byteLength)
    return bytes
  }

  has(person: number): boolean {
    const block = this.blocks[person >>> blockShift]
    if (!block) return false
    const low = person & inBlock
    if (block.bits) return ((block.bits[low >>> 5]! >>> (low & 31)) & 1) === 1
    const at = placeOf(block, low)
    return at < block.count && block.listed![at] === low
  }

  add(person: number): void {
    const block = this.blockFor(person >>> blockShift, fewListed)
    const low = person & inBlock
    if (!block.bits) {
      const at = placeOf(block, low)
      if (at < block.count && block.listed![at] === low) return
      if (block.count < mostListed) {
        if (block.count === block.listed!.length) block.listed = longer(block.listed!, Math.min(mostListed, 2 * block.count))
        block.listed!.copyWithin(at + 1, at, block.count)
        block.listed![at] = low
        block.count++
        this.size++
        return
      }
      toBits(block)
    }
    const [word, bit] = [low >>> 5, 1 << (low & 31)]
    if ((block.bits![word]! & bit) !== 0) return
    block.bits![word]! |= bit
    block.count++
    this.size++
  }

  /** True if it was there. */
  remove(person: number): boolean {
    if (!this.has(person)) return false
    const block = this.blocks[person >>> blockShift]!
    const low = person & inBlock
    if (block.bits) block.bits[low >>> 5]! &= ~(1 << (low & 31))
    else {
      const at = placeOf(block, low)
      block.listed!.copyWithin(at, at + 1, block.count)
    }
    block.count--
    this.size--
    return true
  }

  /** Adds numbers in ascending order, none of which is there. Those above all that are there take least time. */
  append(persons: Int32Array): void {
    for (let from = 0; from < persons.length; ) {
      const number = persons[from]! >>> blockShift
      let to = from + 1
      while (to < persons.length && persons[to]! >>> blockShift === number) to++
      const further = to - from
      const block = this.blockFor(number, Math.min(further, mostListed))
      if (!block.bits && block.count + further > mostListed) toBits(block)
      if (block.bits) for (let i = from; i < to; i++) block.bits[(persons[i]! & inBlock) >>> 5]! |= 1 << (persons[i]! & 31)
      else {
        if (block.count + further > block.listed!.length) block.listed = longer(block.listed!, block.count + further)
        // Of persons whose events lie in pages and of those whose events are in memory, neither come first: from the end, the larger one of both.
        const { listed } = block
        let known = block.count - 1
        for (let next = to - 1, at = block.count + further - 1; next >= from; at--) {
          const low = persons[next]! & inBlock
          if (known >= 0 && listed![known]! > low) listed![at] = listed![known--]!
          else {
            listed![at] = low
            next--
          }
        }
      }
      block.count += further
      this.size += further
      from = to
    }
  }

  *[Symbol.iterator](): Generator<number, void, void> {
    for (const [number, block] of this.blocks.entries()) {
      if (!block) continue
      const first = number * blockSize
      if (block.listed) for (let i = 0; i < block.count; i++) yield first + block.listed[i]!
      else
        for (let word = 0; word < blockWords; word++)
          for (let left = block.bits![word]!; left !== 0; left &= left - 1) yield first + word * 32 + 31 - Math.clz32(left & -left)
    }
  }

  private blockFor(number: number, room: number): Block {
    const known = this.blocks[number]
    if (known) return known
    while (this.blocks.length < number) this.blocks.push(undefined)
    const block: Block = { count: 0, listed: new Uint16Array(room), bits: null }
    this.blocks[number] = block
    return block
  }
}

/** Of the first number that is not below this one. */
function placeOf({ listed, count }: Block, low: number): number {
  let [from, to] = [0, count]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (listed![middle]! < low) from = middle + 1
    else to = middle
  }
  return from
}

function toBits(block: Block): void {
  const bits = new Uint32Array(blockWords)
  for (let i = 0; i < block.count; i++) bits[block.listed![i]! >>> 5]! |= 1 << (block.listed![i]! & 31)
  block.bits = bits
  block.listed = null
}

function longer(values: Uint16Array, length: number): Uint16Array {
  const copy = new Uint16Array(length)
  copy.set(values)
  return copy
}
