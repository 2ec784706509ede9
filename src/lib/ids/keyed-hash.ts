// Chaskey (Mouha et al., 2014), a message authentication code for 32-bit machines: 128 bits of hash that nobody can predict without the key. So nobody can
// choose texts with equal hashes, or many that fall into the same place of a table.

export const hashWords = 4

export interface KeyedHash {
  /** Writes the hash of a text to `hash`. */
  of(text: string): void
  /** Of the latest text. */
  readonly hash: Uint32Array
}

const doubled = (key: Uint32Array): Uint32Array => {
  const [a, b, c, d] = key as unknown as [number, number, number, number]
  return Uint32Array.of((a << 1) ^ (d >>> 31 ? 0x87 : 0), (b << 1) | (a >>> 31), (c << 1) | (b >>> 31), (d << 1) | (c >>> 31))
}

/** `rounds`: of each permutation. */
export function keyedHash(key: Uint32Array, rounds = 8): KeyedHash {
  if (key.length !== hashWords) throw new RangeError('a key has four words')
  const ofWhole = doubled(key)
  const ofPadded = doubled(ofWhole)
  const hash = new Uint32Array(hashWords)
  const [k0, k1, k2, k3] = key as unknown as [number, number, number, number]
  let v0 = 0
  let v1 = 0
  let v2 = 0
  let v3 = 0
  const permute = (): void => {
    for (let i = 0; i < rounds; i++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 13) | (v3 >>> 19)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 7) | (v1 >>> 25)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
  }
  return {
    hash,
    of(text) {
      v0 = k0
      v1 = k1
      v2 = k2
      v3 = k3
      const { length } = text
      // Each word holds two code units, each block eight. The last block, which may be whole, is mixed with a key of its own.
      const lastAt = length === 0 ? 0 : (length - 1) & ~7
      let at = 0
      for (; at < lastAt; at += 8) {
        v0 ^= text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)
        v1 ^= text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16)
        v2 ^= text.charCodeAt(at + 4) | (text.charCodeAt(at + 5) << 16)
        v3 ^= text.charCodeAt(at + 6) | (text.charCodeAt(at + 7) << 16)
        permute()
      }
      // Beyond the end `charCodeAt` is NaN, which counts as 0 here.
      const rest = length - at
      const last = rest === 8 ? ofWhole : ofPadded
      v0 ^= text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16) | (rest === 0 ? 1 : rest === 1 ? 0x10000 : 0)
      v1 ^= text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16) | (rest === 2 ? 1 : rest === 3 ? 0x10000 : 0)
      v2 ^= text.charCodeAt(at + 4) | (text.charCodeAt(at + 5) << 16) | (rest === 4 ? 1 : rest === 5 ? 0x10000 : 0)
      v3 ^= text.charCodeAt(at + 6) | (text.charCodeAt(at + 7) << 16) | (rest === 6 ? 1 : rest === 7 ? 0x10000 : 0)
      v0 ^= last[0]!
      v1 ^= last[1]!
      v2 ^= last[2]!
      v3 ^= last[3]!
      permute()
      hash[0] = v0 ^ last[0]!
      hash[1] = v1 ^ last[1]!
      hash[2] = v2 ^ last[2]!
      hash[3] = v3 ^ last[3]!
    },
  }
}
