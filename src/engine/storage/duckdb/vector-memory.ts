import type { DuckDBListVector, DuckDBVector } from '@duckdb/node-api'
import type { Data } from 'apache-arrow'
import { QueryError } from '../../../errors/errors.ts'

// Inputs of columns: the memory of DuckDB's vectors, and the validity of their rows.

/** The size of columns in bytes, with a value of its own for each row, even if columns share values. */
export class Bytes {
  taken = 0

  /** `most`: larger columns are rejected before they are copied. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  take(bytes: number): void {
    this.taken += bytes
    if (this.taken > this.most) throw new QueryError('answer-too-large', { bytes: this.most })
  }
}

/** Collects rows [start, end) of vectors of one type, then makes one Arrow array of all. */
export interface Builder {
  append(vector: DuckDBVector, start: number, end: number): void
  finish(): Data
  /** Starts again in the same memory, which invalidates finished arrays. */
  restart?(): void
}

/** Fields of classes of `@duckdb/node-api` that are private for the compiler only. */
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

/** The validity of rows: Arrow's bitmap, created only if there is a null. */
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

/** Calls back with the validity of each row. Reads the bitmap by bytes: a bigint per row would cost more than copying the values. */
export function validRows(vector: DuckDBVector): (row: number) => boolean {
  const { data, offset } = memory(vector).validity
  if (!data?.some((word) => word !== allSet)) return always
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return (row) => ((bytes[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1) === 1
}
