import type { DuckDBListVector, DuckDBVector } from '@duckdb/node-api'
import type { Data } from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'

// What columns are built from: the memory of DuckDB's vectors, and which of their rows have a value.

/** Bytes that columns take, each row with its own value, however columns share them. */
export class Bytes {
  taken = 0

  /** `most`: more than so many are refused before they are copied. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  take(bytes: number): void {
    this.taken += bytes
    if (this.taken > this.most) throw new QueryError('answer-too-large', { bytes: this.most })
  }
}

/** Takes rows [start, end) of vectors of one type, then makes one Arrow array of all of them. */
export interface Builder {
  append(vector: DuckDBVector, start: number, end: number): void
  finish(): Data
  /** Starts again in the same memory, which invalidates what was finished. */
  restart?(): void
}

/** What the classes of `@duckdb/node-api` hold under names that are private to the compiler only. */
export interface Memory {
  readonly items: NumberArray
  readonly dataView: DataView
  readonly validity: { readonly data: BigUint64Array | null; readonly offset: number }
  readonly listVector: DuckDBListVector
  readonly childData: DuckDBVector
  readonly entryVectors: readonly DuckDBVector[]
}
export const memory = (vector: DuckDBVector) => vector as unknown as Memory

export type NumberArray =
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array

/** Which rows have a value: Arrow's bitmap, made only when there is a null. */
export class Validity {
  nullCount = 0
  private bits: Uint8Array | null = null
  private length = 0

  append(vector: DuckDBVector, start: number, end: number): void {
    const isValid = validRows(vector)
    if (isValid !== always) for (let i = start; i < end; i++) if (!isValid(i)) this.clear(this.length + i - start)
    this.length += end - start
  }

  appendOne(isValid: boolean): void {
    if (!isValid) this.clear(this.length)
    this.length++
  }

  private clear(at: number): void {
    const needed = (at >> 3) + 1
    if (!this.bits || this.bits.length < needed) {
      const grown = new Uint8Array(Math.max(1024, needed * 2)).fill(0xff)
      if (this.bits) grown.set(this.bits)
      this.bits = grown
    }
    this.bits[at >> 3]! &= ~(1 << (at & 7))
    this.nullCount++
  }

  finish(): { nullCount: number; nullBitmap: Uint8Array | undefined } {
    if (!this.bits) return { nullCount: 0, nullBitmap: undefined }
    const bytes = (this.length + 7) >> 3
    const bitmap = new Uint8Array(bytes).fill(0xff)
    bitmap.set(this.bits.subarray(0, Math.min(bytes, this.bits.length)))
    return { nullCount: this.nullCount, nullBitmap: bitmap }
  }
}

const allSet = 0xffff_ffff_ffff_ffffn
const always = () => true

/** Tells of each row of the vector whether it has a value. By the bytes of its bitmap: a bigint per row would cost more than what is copied. */
export function validRows(vector: DuckDBVector): (row: number) => boolean {
  const { data, offset } = memory(vector).validity
  if (!data?.some((word) => word !== allSet)) return always
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return (row) => ((bytes[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1) === 1
}
