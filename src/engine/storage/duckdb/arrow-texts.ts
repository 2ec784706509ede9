import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api'
import { type Data, Dictionary, Int32, makeData, Utf8, Vector } from 'apache-arrow'
import { TextHeap } from './text-heap.ts'
import { type Builder, type Bytes, Validity, validRows } from './vector-memory.ts'

// Text columns, copied without creating JavaScript strings.

/** Each text unchanged. */
export function plainTexts(rows: number, bytes: Bytes): Builder {
  const validity = new Validity()
  const heap = new TextHeap(rows)
  const take = (size: number) => bytes.take(size)
  return {
    append(vector, start, end) {
      heap.append(vector, start, end, take)
      validity.append(vector, start, end)
    },
    finish: () => makeData({ type: new Utf8(), length: heap.length, ...validity.finish(), ...heap.finish() }),
  }
}

/** Stores each distinct text once, for columns with many rows and few texts. */
export function codedTexts(bytes: Bytes): Builder {
  const validity = new Validity()
  const codes = new TextTable()
  const heap = new TextHeap()
  const take = (size: number) => bytes.take(size)
  let indices = new Int32Array(2048)
  let length = 0
  return {
    append(vector, start, end) {
      if (length + end - start > indices.length) {
        const grown = new Int32Array(Math.max(indices.length * 2, length + end - start))
        grown.set(indices)
        indices = grown
      }
      heap.clear()
      heap.append(vector, start, end, take)
      const isValid = validRows(vector)
      for (let i = start; i < end; i++, length++)
        if (isValid(i)) indices[length] = codes.code(heap.data, heap.offsets[i - start]!, heap.offsets[i - start + 1]!)
      validity.append(vector, start, end)
    },
    finish() {
      const { texts } = codes
      const dictionary = makeData({ type: new Utf8(), length: texts.length, ...texts.finish() })
      return makeData({
        type: new Dictionary(new Utf8(), new Int32()),
        length,
        ...validity.finish(),
        data: indices.slice(0, length),
        dictionary: new Vector([dictionary]),
      }) as Data
    },
  }
}

/** A dictionary of mostly unique values would be larger than the values. */
export const isUnique = ({ typeId }: DuckDBType) => typeId === DuckDBTypeId.UUID

/** Numbers texts by their bytes, from 0: a hash table that is at most half full. */
class TextTable {
  readonly texts = new TextHeap()
  private slots = new Int32Array(512).fill(-1)
  private hashes = new Int32Array(256)

  code(from: Uint8Array, start: number, end: number): number {
    const hash = hashOf(from, start, end)
    const known = this.slots[this.slotOf(hash, from, start, end)]!
    if (known !== -1) return known
    const code = this.texts.length
    if (code === this.hashes.length) this.widen()
    this.slots[this.slotOf(hash, from, start, end)] = code
    this.hashes[code] = hash
    this.texts.add(from, start, end)
    return code
  }

  private slotOf(hash: number, from: Uint8Array, start: number, end: number): number {
    const { slots, hashes } = this
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const code = slots[slot]!
      if (code === -1 || (hashes[code] === hash && this.is(code, from, start, end))) return slot
    }
  }

  private is(code: number, from: Uint8Array, start: number, end: number): boolean {
    const { data, offsets } = this.texts
    const at = offsets[code]!
    if (offsets[code + 1]! - at !== end - start) return false
    for (let i = start, index = at; i < end; i++, index++) if (data[index] !== from[i]) return false
    return true
  }

  private widen(): void {
    const hashes = new Int32Array(2 * this.hashes.length)
    hashes.set(this.hashes)
    this.slots = new Int32Array(2 * hashes.length).fill(-1)
    const mask = this.slots.length - 1
    for (let code = 0; code < this.hashes.length; code++) {
      let slot = hashes[code]! & mask
      while (this.slots[slot] !== -1) slot = (slot + 1) & mask
      this.slots[slot] = code
    }
    this.hashes = hashes
  }
}

function hashOf(from: Uint8Array, start: number, end: number): number {
  let hash = end - start
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ from[i]!, 0x01000193)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
