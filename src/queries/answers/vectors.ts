import { DataType, Dictionary, type Table, type Vector } from 'apache-arrow'
import { InternalError } from '../../errors/errors.ts'

// Columns of an answer as typed arrays, without an object per row.

function column(table: Table, name: string): Vector {
  const vector = table.getChild(name)
  if (!vector) throw new InternalError(`the answer has no column ${name}`)
  return vector
}

type Values =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array

/** The column's own memory, if it is contiguous and of the wanted type. */
function rawValues<A extends Float64Array | Int32Array>(table: Table, name: string, ArrayType: new (length: number) => A): A | null {
  const { data } = column(table, name)
  const values = data.length === 1 ? (data[0]!.values as Values) : null
  return values instanceof ArrayType ? (values.subarray(0, data[0]!.length) as A) : null
}

/** Any numeric column as doubles; NULL is NaN. Integers beyond 2^53 lose digits. May share the memory of the answer. */
export function doubles(table: Table, name: string): Float64Array {
  const vector = column(table, name)
  const own = vector.nullCount === 0 ? rawValues(table, name, Float64Array) : null
  if (own) return own
  const out = new Float64Array(table.numRows)
  let at = 0
  for (const chunk of vector.data) {
    const values = (chunk.values as Values).subarray(0, chunk.length)
    if (values instanceof BigInt64Array || values instanceof BigUint64Array) widen(values, out, at)
    else out.set(values, at)
    // An engine leaves any number where there is no value.
    if (chunk.nullCount > 0) for (let i = 0; i < chunk.length; i++) if (!chunk.getValid(i)) out[at + i] = Number.NaN
    at += chunk.length
  }
  return out
}

/** The two halves of each integer, because a bigint per value would cost more than everything else. */
function widen(values: BigInt64Array | BigUint64Array, out: Float64Array, at: number): void {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  for (let i = 0; i < values.length; i++) out[at + i] = halves[2 * i + 1]! * 4294967296 + (halves[2 * i]! >>> 0)
}

/** Any numeric column as 32-bit integers; larger ones wrap, so that bit 31 can be used. May share the memory of the answer. */
export function integers(table: Table, name: string): Int32Array {
  const own = rawValues(table, name, Int32Array)
  if (own) return own
  const out = new Int32Array(table.numRows)
  let at = 0
  for (const chunk of column(table, name).data) {
    const values = (chunk.values as Values).subarray(0, chunk.length)
    if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
      const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
      for (let i = 0; i < values.length; i++) out[at + i] = halves[2 * i]!
    } else if (values instanceof Float64Array || values instanceof Float32Array) {
      for (let i = 0; i < values.length; i++) out[at + i] = values[i]! | 0
    } else out.set(values, at)
    at += chunk.length
  }
  return out
}

/** Are the column's values texts? */
export function isText(table: Table, name: string): boolean {
  const { type } = column(table, name)
  return DataType.isUtf8(type) || (DataType.isDictionary(type) && DataType.isUtf8(type.dictionary))
}

/** Texts of a column; null for missing values. */
export const texts = (table: Table, name: string): (string | null)[] =>
  Array.from(column(table, name), (value) => (value === null ? null : String(value)))

/** Assigns a number to each distinct text, from 0. */
export class TextCodes {
  readonly values: string[] = []
  private readonly codes = new Map<string, number>()

  code(text: string): number {
    let code = this.codes.get(text)
    if (code === undefined) {
      code = this.values.length
      this.values.push(text)
      this.codes.set(text, code)
    }
    return code
  }
}

/** A text column as codes. A dictionary is looked up once per entry, not once per row. Null reads as ''. */
export function codesOf(table: Table, name: string, codes: TextCodes): Int32Array {
  const vector = column(table, name)
  const out = new Int32Array(table.numRows)
  let at = 0
  for (const chunk of vector.data) {
    if (vector.type instanceof Dictionary && chunk.dictionary) {
      const translated = Int32Array.from(chunk.dictionary as Iterable<unknown>, (text) => codes.code(text === null ? '' : String(text)))
      const keys = chunk.values as Int32Array
      if (chunk.nullCount === 0) for (let i = 0; i < chunk.length; i++) out[at + i] = translated[keys[i]!]!
      else for (let i = 0; i < chunk.length; i++) out[at + i] = chunk.getValid(i) ? translated[keys[i]!]! : codes.code('')
    } else {
      for (let i = 0; i < chunk.length; i++) {
        const text: unknown = vector.get(at + i)
        out[at + i] = codes.code(text === null ? '' : String(text))
      }
    }
    at += chunk.length
  }
  return out
}
