import { hashWords } from './words.ts'

// A split-block Bloom filter: eight bits, one in each word of one 32-byte block, so a look-up touches one cache line.
// With twelve bits per key about one in 150 unknown keys passes.

const salts = new Uint32Array([0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31])
export const bitsPerKey = 12

export class BloomFilter {
  readonly words: Uint32Array
  private readonly blocks: number

  constructor(words: Uint32Array) {
    this.words = words
    this.blocks = words.length / 8
  }

  static for(keys: number): BloomFilter {
    return new BloomFilter(new Uint32Array(Math.max(1, Math.ceil((keys * bitsPerKey) / 256)) * 8))
  }

  add(key: Uint32Array, at: number): void {
    const [block, bits] = this.bitsOf(key, at)
    for (let i = 0; i < 8; i++) this.words[block + i]! |= 1 << (Math.imul(bits, salts[i]!) >>> 27)
  }

  /** False: certainly not added. */
  mayHave(key: Uint32Array, at: number): boolean {
    const [block, bits] = this.bitsOf(key, at)
    for (let i = 0; i < 8; i++) if ((this.words[block + i]! & (1 << (Math.imul(bits, salts[i]!) >>> 27))) === 0) return false
    return true
  }

  private bitsOf(key: Uint32Array, at: number): [block: number, bits: number] {
    const hash = hashWords(key, at)
    const block = Math.floor((hash / 4_294_967_296) * this.blocks) * 8
    return [block, Math.imul(hash ^ key[at + 3]!, 0x9e3779b1) ^ key[at + 2]!]
  }
}
