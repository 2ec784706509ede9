import { DuckDBTypeId, type DuckDBVector } from '@duckdb/node-api'
import { type Data, Dictionary, Int32, makeData, Utf8, Vector } from 'apache-arrow'
import { type Builder, type Bytes, isValid, memory, Validity } from './vector-memory.ts'

// Columns of texts.

const longestShort = 12

/** Codes of texts by the four words that each of them is; a table of slots, half of them free at least. */
class ShortTexts {
  private slots = 256
  private count = 0
  private words = new Int32Array(4 * this.slots)
  private codes = new Int32Array(this.slots).fill(-1)

  /** The code of the text whose words begin at `at`; -1 when it is new. */
  find(from: Int32Array, at: number): number {
    return this.codes[this.slotOf(from, at)]!
  }

  /** Keeps the code of a new text, and answers it. */
  add(from: Int32Array, at: number, code: number): number {
    if (this.count * 2 >= this.slots) this.widen()
    this.put(from, at, code)
    this.count++
    return code
  }

  private put(from: Int32Array, at: number, code: number): void {
    const slot = this.slotOf(from, at)
    for (let i = 0; i < 4; i++) this.words[4 * slot + i] = from[at + i]!
    this.codes[slot] = code
  }

  private slotOf(from: Int32Array, at: number): number {
    const a = from[at]!
    const b = from[at + 1]!
    const c = from[at + 2]!
    const d = from[at + 3]!
    const { words, codes, slots } = this
    let hash = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(c ^ Math.imul(d, 0xc2b2ae35), 0x27d4eb2f)
    hash ^= hash >>> 15
    for (let slot = hash & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      if (codes[slot] === -1) return slot
      const place = 4 * slot
      if (words[place] === a && words[place + 1] === b && words[place + 2] === c && words[place + 3] === d) return slot
    }
  }

  private widen(): void {
    const { words, codes, slots } = this
    this.slots *= 2
    this.words = new Int32Array(4 * this.slots)
    this.codes = new Int32Array(this.slots).fill(-1)
    for (let slot = 0; slot < slots; slot++) if (codes[slot] !== -1) this.put(words, 4 * slot, codes[slot]!)
  }
}

/** Each different text is kept once. */
export function codedTexts(bytes: Bytes): Builder {
  const validity = new Validity()
  const codes = new Map<string, number>()
  // Texts of up to 12 bytes lie in the vector itself, 16 bytes with their length: the same bytes are the same text. Longer ones lie behind a
  // pointer, and the same pointer within one vector is the same text. Either way most texts are told apart without being read.
  const short = new ShortTexts()
  const codeOf = (text: string): number => {
    const code = codes.get(text) ?? codes.size
    if (code === codes.size) codes.set(text, code)
    return code
  }
  const readers = (vector: DuckDBVector): ((row: number) => number) => {
    const { dataView } = memory(vector)
    if (vector.type.typeId !== DuckDBTypeId.VARCHAR || !dataView || dataView.byteOffset % 4 !== 0)
      return (row) => {
        const text = textItem(vector, row)!
        bytes.take(text.length)
        return codeOf(text)
      }
    const long = new Map<number, number>()
    const words = new Int32Array(dataView.buffer, dataView.byteOffset, dataView.byteLength >> 2)
    return (row) => {
      const at = row * 4
      bytes.take(words[at]! >>> 0)
      if (words[at]! >>> 0 <= longestShort) {
        const seen = short.find(words, at)
        return seen >= 0 ? seen : short.add(words, at, codeOf(vector.getItem(row) as string))
      }
      const pointer = (words[at + 3]! >>> 0) * 2 ** 32 + (words[at + 2]! >>> 0)
      let code = long.get(pointer)
      if (code === undefined) {
        code = codeOf(vector.getItem(row) as string)
        long.set(pointer, code)
      }
      return code
    }
  }
  let indices = new Int32Array(2048)
  let length = 0
  return {
    append(vector, start, end) {
      if (length + end - start > indices.length) {
        const grown = new Int32Array(Math.max(indices.length * 2, length + end - start))
        grown.set(indices)
        indices = grown
      }
      const read = readers(vector)
      for (let i = start; i < end; i++) {
        const has = isValid(vector, i)
        validity.appendOne(has)
        if (has) indices[length] = read(i)
        length++
      }
    },
    finish() {
      const dictionary = utf8([...codes.keys()])
      const type = new Dictionary(new Utf8(), new Int32())
      return makeData({
        type,
        length,
        ...validity.finish(),
        data: indices.slice(0, length),
        dictionary: new Vector([dictionary]),
      }) as Data
    },
  }
}

export function plainTexts(bytes: Bytes): Builder {
  const validity = new Validity()
  const values: string[] = []
  return {
    append(vector, start, end) {
      for (let i = start; i < end; i++) {
        const text = textItem(vector, i)
        bytes.take(text?.length ?? 0)
        validity.appendOne(text !== null)
        values.push(text ?? '')
      }
    },
    finish() {
      const { nullCount, nullBitmap } = validity.finish()
      return utf8(values, nullCount, nullBitmap)
    },
  }
}

const encoder = new TextEncoder()

function utf8(values: readonly string[], nullCount = 0, nullBitmap?: Uint8Array): Data<Utf8> {
  const valueOffsets = new Int32Array(values.length + 1)
  const encoded = values.map((value) => encoder.encode(value))
  encoded.forEach((bytes, i) => {
    valueOffsets[i + 1] = valueOffsets[i]! + bytes.length
  })
  const data = new Uint8Array(valueOffsets[values.length]!)
  encoded.forEach((bytes, i) => {
    data.set(bytes, valueOffsets[i])
  })
  return makeData({ type: new Utf8(), length: values.length, nullCount, nullBitmap, valueOffsets, data })
}

const textItem = (vector: DuckDBVector, row: number): string | null => {
  const item = vector.getItem(row)
  return item === null ? null : String(item)
}
