import { type DuckDBAppender, DuckDBDataChunk, type DuckDBType } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { InternalError } from '../../../errors/errors.ts'
import { putWords } from '../../../lib/ids/uuid-words.ts'

// Rows for an appender, in DuckDB's memory layout, passed by column. Through the client's values a text costs one
// call; here all texts of a chunk are one: they are in one arena, and a column holds DuckDB's string_t, which is the length with
// either up to twelve bytes, or the first four bytes and the address. `duckdb.h` documents the layout, and the engine validates texts.

export const chunkRows = 2048
/** The bytes of texts at which a chunk is passed on before it is full. */
const arenaBytes = 4 << 20
const inlineBytes = 12
const stringBytes = 16

/** A column that is filled by row number. */
export interface RawColumn {
  readonly buffer: ArrayBuffer
  readonly bytesPerRow: number
  /** Only columns that can have nulls. */
  readonly nulls?: Nulls
}

/** Which rows of a column are null, in DuckDB's layout: a bit for each row that is not. */
export class Nulls {
  readonly bits = new Uint8Array(chunkRows / 8).fill(0xff)
  hasAny = false

  put(row: number): void {
    this.bits[row >> 3]! &= ~(1 << (row & 7))
    this.hasAny = true
  }

  clear(): void {
    if (this.hasAny) this.bits.fill(0xff)
    this.hasAny = false
  }
}

export class Integers implements RawColumn {
  readonly values = new Int32Array(chunkRows)
  readonly buffer = this.values.buffer
  readonly bytesPerRow = 4
}

export class SmallIntegers implements RawColumn {
  readonly values = new Uint8Array(chunkRows)
  readonly buffer = this.values.buffer
  readonly bytesPerRow = 1
}

/** 64-bit integers, given as whole numbers between -2^53 and 2^53. */
export class BigIntegers implements RawColumn {
  private readonly halves = new Int32Array(chunkRows * 2)
  readonly buffer = this.halves.buffer
  readonly bytesPerRow = 8

  put(row: number, value: number): void {
    const high = Math.floor(value / 2 ** 32)
    this.halves[2 * row] = value - high * 2 ** 32
    this.halves[2 * row + 1] = high
  }
}

export class Uuids implements RawColumn {
  private readonly words = new Uint32Array(chunkRows * 4)
  private readonly found = new Uint32Array(4)
  readonly buffer = this.words.buffer
  readonly bytesPerRow = 16

  /** In the usual notation. */
  put(row: number, uuid: string): void {
    const { found, words } = this
    putWords(uuid, found, 0)
    words[4 * row] = found[3]!
    words[4 * row + 1] = found[2]!
    words[4 * row + 2] = found[1]!
    words[4 * row + 3] = found[0]! ^ 0x80000000 // signed in the engine, so that order is the order of the texts
  }
}

/** The texts of a chunk. */
export class Arena {
  private readonly least: number
  bytes: Buffer
  length = 0

  constructor(least = 1 << 20) {
    this.least = least
    this.bytes = Buffer.allocUnsafeSlow(least)
  }

  get isFull(): boolean {
    return this.length >= arenaBytes
  }

  clear(): void {
    this.length = 0
    if (this.bytes.length > 2 * arenaBytes) this.bytes = Buffer.allocUnsafeSlow(this.least)
  }

  reserve(size: number): number {
    if (this.length + size > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + size))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    const at = this.length
    this.length += size
    return at
  }
}

/** Up to this many characters a loop is faster than a native call. */
const shortText = 32

/** Returns the number of bytes. */
function writeText(bytes: Buffer, text: string, start: number): number {
  if (text.length > shortText) return bytes.write(text, start)
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c >= 0x80) return bytes.write(text, start)
    bytes[start + i] = c
  }
  return text.length
}

export class RawTexts implements RawColumn {
  private readonly arena: Arena
  private readonly words = new Uint32Array(chunkRows * 4)
  private readonly inlined = new Uint8Array(this.words.buffer)
  readonly buffer = this.words.buffer
  readonly bytesPerRow = stringBytes

  constructor(arena: Arena) {
    this.arena = arena
  }

  put(row: number, text: string): void {
    const { arena, words } = this
    if (text === '') {
      words[4 * row] = words[4 * row + 1] = words[4 * row + 2] = words[4 * row + 3] = 0
      return
    }
    const start = arena.reserve(text.length * 3)
    arena.length = start + writeText(arena.bytes, text, start)
    this.point(row, start, arena.length - start)
  }

  copy(row: number, source: Uint8Array, from: number, to: number): void {
    const start = this.arena.reserve(to - from)
    this.arena.bytes.set(source.subarray(from, to), start)
    this.point(row, start, to - from)
  }

  private point(row: number, start: number, length: number): void {
    const { words, inlined } = this
    const { bytes } = this.arena
    const at = 4 * row
    words[at] = length
    if (length <= inlineBytes) {
      words[at + 1] = words[at + 2] = words[at + 3] = 0
      for (let i = 0; i < length; i++) inlined[4 * at + 4 + i] = bytes[start + i]!
      return
    }
    for (let i = 0; i < 4; i++) inlined[4 * at + 4 + i] = bytes[start + i]!
    words[at + 2] = start
  }

  /** Replaces offsets in the arena by addresses. */
  locate(rows: number, low: number, high: number): void {
    const { words } = this
    for (let at = 0; at < 4 * rows; at += 4) {
      if (words[at]! <= inlineBytes) continue
      const address = low + words[at + 2]!
      words[at + 2] = address
      words[at + 3] = address >= 2 ** 32 ? high + 1 : high
    }
  }
}

/** Passes the first `rows` rows of `columns` to an appender. */
export class RawChunk {
  private readonly chunk: DuckDBDataChunk
  private readonly columns: readonly RawColumn[]
  private readonly arena: Arena

  constructor(types: readonly DuckDBType[], columns: readonly RawColumn[], arena: Arena) {
    this.chunk = DuckDBDataChunk.create(types)
    this.columns = columns
    this.arena = arena
  }

  append(appender: DuckDBAppender, rows: number): void {
    const { chunk, arena, columns } = this
    chunk.reset()
    chunk.rowCount = rows
    const texts = columns.filter((column) => column instanceof RawTexts)
    if (arena.length > inlineBytes) {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, columns.indexOf(texts[0]!))
      duckdb.vector_assign_string_element_len(vector, 0, arena.bytes.subarray(0, arena.length))
      const words = new Uint32Array(duckdb.vector_get_data(vector, stringBytes).slice().buffer)
      if (words[0] !== arena.length) throw new InternalError('Unsupported version of DuckDB: its string layout is unknown')
      for (const column of texts) column.locate(rows, words[2]!, words[3]!)
    }
    for (const [i, { buffer, bytesPerRow, nulls }] of columns.entries()) {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, i)
      duckdb.copy_data_to_vector(vector, 0, buffer, 0, rows * bytesPerRow)
      if (!nulls?.hasAny) continue
      duckdb.vector_ensure_validity_writable(vector)
      duckdb.copy_data_to_vector_validity(vector, 0, nulls.bits.buffer as ArrayBuffer, 0, nulls.bits.length)
      nulls.clear()
    }
    appender.appendDataChunk(chunk)
    arena.clear()
  }
}
