import { DuckDBTypeId, type DuckDBVector } from '@duckdb/node-api'
import bindings from '@duckdb/node-bindings'
import { memory, validRows } from './vector-memory.ts'

/** A text of up to this many bytes is inline in its vector, in 16 bytes that start with its length; for a longer one there is a pointer. */
const longestInline = 12
const bytesPerText = 16
const bytesOfUuid = 36

const encoder = new TextEncoder()

/** The texts of vectors in Arrow's layout: concatenated bytes, and the end offset of each. A null is an empty text here. */
export class TextHeap {
  length = 0
  data = new Uint8Array()
  /** One more than the number of texts. */
  offsets: Int32Array

  /** `expected`: the number of texts, if it is known. */
  constructor(private readonly expected = 0) {
    this.offsets = new Int32Array(expected + 1)
  }

  get byteLength(): number {
    return this.offsets[this.length]!
  }

  clear(): void {
    this.length = 0
  }

  /** Copies rows [start, end). `take` receives their bytes before they are copied. */
  append(vector: DuckDBVector, start: number, end: number, take: (bytes: number) => void): void {
    this.reserveRows(end - start)
    if (vector.type.typeId === DuckDBTypeId.VARCHAR) this.appendTexts(vector, start, end, take)
    else if (vector.type.typeId === DuckDBTypeId.UUID) this.appendUuids(vector, start, end, take)
    else this.appendOthers(vector, start, end, take)
  }

  /** A copy of one text. */
  add(from: Uint8Array, start: number, end: number): void {
    this.reserveRows(1)
    const at = this.byteLength
    this.reserveBytes(at + end - start, 1)
    copy(from, start, end, this.data, at)
    this.offsets[++this.length] = at + end - start
  }

  /** Both in memory of their own, which is hardly larger than needed. */
  finish(): { valueOffsets: Int32Array; data: Uint8Array } {
    return { valueOffsets: trimmed(this.offsets, this.length + 1), data: trimmed(this.data, this.byteLength) }
  }

  private reserveRows(rows: number): void {
    const needed = this.length + rows + 1
    if (needed > this.offsets.length) this.offsets = grown(this.offsets, roomFor(needed))
  }

  /** Reserves space for `rows` more texts that end at `needed`, and for the rest by their average size so far. */
  private reserveBytes(needed: number, rows: number): void {
    if (needed <= this.data.length) return
    const all = 1.1 * (needed / (this.length + rows)) * this.expected
    this.data = grown(this.data, Math.max(roomFor(needed), Math.min(all, needed * maxAhead)))
  }

  private appendTexts(vector: DuckDBVector, start: number, end: number, take: (bytes: number) => void): void {
    const { dataView } = memory(vector)
    const words = new Uint32Array(dataView.buffer, dataView.byteOffset, dataView.byteLength >> 2)
    const inline = new Uint8Array(dataView.buffer, dataView.byteOffset, dataView.byteLength)
    const isValid = validRows(vector)
    const { offsets } = this
    const from = this.length - start
    let at = this.byteLength
    for (let row = start; row < end; row++) {
      if (isValid(row)) at += words[row * 4]!
      offsets[from + row + 1] = at
    }
    take(at - this.byteLength)
    this.reserveBytes(at, end - start)
    const { data } = this
    // The engine wrote the long texts of a vector one after the other: adjacent ones are read with one native call.
    let first = start
    let run = 0
    let runEnd = -1
    for (let row = start; row < end; row++) {
      const offset = offsets[from + row]!
      const size = offsets[from + row + 1]! - offset
      if (size <= longestInline) {
        copy(inline, row * bytesPerText + 4, row * bytesPerText + 4 + size, data, offset)
        continue
      }
      const pointer = words[row * 4 + 3]! * 2 ** 32 + words[row * 4 + 2]!
      if (pointer !== runEnd) {
        this.copyRun(dataView, from, first, row, run)
        first = row
        run = 0
      }
      run += size
      runEnd = pointer + size
    }
    this.copyRun(dataView, from, first, end, run)
    this.length += end - start
  }

  /** The long texts of rows [first, end), which are `size` contiguous bytes at the first pointer. */
  private copyRun(dataView: DataView, from: number, first: number, end: number, size: number): void {
    if (size === 0) return
    const { data, offsets } = this
    const pointerAt = dataView.byteOffset + first * bytesPerText + 8
    const run = bindings.get_data_from_pointer(dataView.buffer as ArrayBuffer, pointerAt, size)
    if (offsets[from + end]! - offsets[from + first]! === size) {
      data.set(run, offsets[from + first])
      return
    }
    let read = 0
    for (let row = first; row < end; row++) {
      const offset = offsets[from + row]!
      const bytes = offsets[from + row + 1]! - offset
      if (bytes <= longestInline) continue
      copy(run, read, read + bytes, data, offset)
      read += bytes
    }
  }

  private appendUuids(vector: DuckDBVector, start: number, end: number, take: (bytes: number) => void): void {
    take((end - start) * bytesOfUuid)
    const { dataView } = memory(vector)
    const stored = new Uint8Array(dataView.buffer, dataView.byteOffset, dataView.byteLength)
    this.reserveBytes(this.byteLength + (end - start) * bytesOfUuid, end - start)
    const isValid = validRows(vector)
    const { data, offsets } = this
    let at = this.byteLength
    for (let row = start; row < end; row++) {
      if (isValid(row)) {
        writeUuid(stored, row * bytesPerText, data, at)
        at += bytesOfUuid
      }
      offsets[++this.length] = at
    }
  }

  private appendOthers(vector: DuckDBVector, start: number, end: number, take: (bytes: number) => void): void {
    for (let row = start; row < end; row++) {
      const item = vector.getItem(row)
      const bytes = item === null ? noBytes : encoder.encode(String(item))
      take(bytes.length)
      this.add(bytes, 0, bytes.length)
    }
  }
}

const noBytes = new Uint8Array()

const hexDigits = Uint8Array.from({ length: 512 }, (_, i) =>
  (i >> 1)
    .toString(16)
    .padStart(2, '0')
    .charCodeAt(i & 1),
)

/** The engine stores a UUID as a 128-bit integer, least significant byte first, with the first bit inverted so that it sorts like the text. */
function writeUuid(from: Uint8Array, start: number, to: Uint8Array, at: number): void {
  let offset = at
  for (let i = 15; i >= 0; i--) {
    const byte = 2 * (i === 15 ? from[start + i]! ^ 0x80 : from[start + i]!)
    to[offset++] = hexDigits[byte]!
    to[offset++] = hexDigits[byte + 1]!
    if (i === 12 || i === 10 || i === 8 || i === 6) to[offset++] = 0x2d
  }
}

const shortCopy = 48

/** For a short text a loop is faster than creating a view. */
function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > shortCopy) to.set(from.subarray(start, end), at)
  else for (let i = start, offset = at; i < end; i++, offset++) to[offset] = from[i]!
}

/** The growth factor of reserved memory. */
const maxAhead = 16
const roomFor = (needed: number) => Math.max(256, needed + (needed >> 1))

function grown<A extends Uint8Array | Int32Array>(array: A, length: number): A {
  const wider = new (array.constructor as new (length: number) => A)(length)
  wider.set(array as never)
  return wider
}

/** Up to an eighth may stay unused: cheaper than copying everything. */
const trimmed = <A extends Uint8Array | Int32Array>(array: A, length: number): A =>
  (array.length - length > array.length >> 3 ? array.slice(0, length) : array.subarray(0, length)) as A
