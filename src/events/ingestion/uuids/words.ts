// Sets of UUIDs as words (`lib/ids/uuid-words.ts`).

/** Hashes all words, so that uuids which differ only in their time or only in their last digits are spread evenly. */
export function hashWords(words: Uint32Array, at: number): number {
  let h = Math.imul(words[at]! ^ 0x9e3779b9, 0x85ebca6b)
  h = Math.imul((h ^ (h >>> 15)) + words[at + 1]!, 0xc2b2ae35)
  h = Math.imul((h ^ (h >>> 13)) + words[at + 2]!, 0x27d4eb2f)
  h = Math.imul((h ^ (h >>> 15)) + words[at + 3]!, 0x165667b1)
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  return (h ^ (h >>> 13)) >>> 0
}

export function compareWords(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let k = 0; k < 4; k++) {
    const [x, y] = [a[i + k]!, b[j + k]!]
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

/** Sorts records of four words. Bytes that are equal in all records (the time in a burst of UUIDv7) take one pass. */
export function sortRecords(records: Uint32Array): Uint32Array {
  const count = records.length / 4
  let from: Uint32Array = records
  let to: Uint32Array = new Uint32Array(records.length)
  const starts = new Uint32Array(65_536)
  for (let pass = 0; pass < 8; pass++) {
    const column = 3 - (pass >> 1)
    const shift = (pass & 1) * 16
    starts.fill(0)
    for (let i = column; i < from.length; i += 4) starts[(from[i]! >>> shift) & 0xffff]!++
    if (count > 0 && starts[(from[column]! >>> shift) & 0xffff] === count) continue
    let sum = 0
    for (let i = 0; i < starts.length; i++) {
      const n = starts[i]!
      starts[i] = sum
      sum += n
    }
    for (let i = 0; i < from.length; i += 4) {
      const target = starts[(from[i + column]! >>> shift) & 0xffff]!++ * 4
      to[target] = from[i]!
      to[target + 1] = from[i + 1]!
      to[target + 2] = from[i + 2]!
      to[target + 3] = from[i + 3]!
    }
    ;[from, to] = [to, from === records ? new Uint32Array(records.length) : from]
  }
  return from
}
