import {
  type DuckDBDataChunk,
  type DuckDBDecimalType,
  type DuckDBListVector,
  type DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBVector,
} from '@duckdb/node-api'
import {
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  Vector,
} from 'apache-arrow'
import { QueryError } from '../../errors/errors.ts'

// DuckDB's vectors as Arrow columns. Numbers, times and truth values are copied as memory; only texts become JavaScript values on the way.

/** Takes rows [start, end) of vectors of one type, then makes one Arrow array of all of them. */
interface Builder {
  append(vector: DuckDBVector, start: number, end: number): void
  finish(): Data
}

/** What the classes of `@duckdb/node-api` hold under names that are private to the compiler only. */
interface Memory {
  readonly items: NumberArray
  readonly dataView: DataView
  readonly validity: { readonly data: BigUint64Array | null; readonly offset: number }
  readonly listVector: DuckDBListVector
  readonly childData: DuckDBVector
  readonly entryVectors: readonly DuckDBVector[]
}
const memory = (vector: DuckDBVector) => vector as unknown as Memory

type NumberArray =
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
class Validity {
  nullCount = 0
  private bits: Uint8Array | null = null
  private length = 0

  append(vector: DuckDBVector, start: number, end: number): void {
    const { data, offset } = memory(vector).validity
    if (data) for (let i = start; i < end; i++) if (!isSet(data, offset + i)) this.clear(this.length + i - start)
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

const isSet = (bits: BigUint64Array, bit: number) => ((bits[bit >> 6]! >> BigInt(bit & 63)) & 1n) === 1n
const isValid = (vector: DuckDBVector, row: number): boolean => {
  const { data, offset } = memory(vector).validity
  return !data || isSet(data, offset + row)
}

interface NumberArrayType {
  new (length: number): NumberArray
  new (buffer: ArrayBufferLike, offset: number, length: number): NumberArray
}

/** Values that lie in DuckDB's memory as they lie in Arrow's. */
function copied(type: DataType, ArrayType: NumberArrayType, raw: (vector: DuckDBVector) => NumberArray): Builder {
  const validity = new Validity()
  const parts: NumberArray[] = []
  let length = 0
  return {
    append(vector, start, end) {
      // A chunk's memory is DuckDB's own and goes when the chunk goes.
      parts.push(raw(vector).slice(start, end))
      validity.append(vector, start, end)
      length += end - start
    },
    finish() {
      const all = parts.length === 1 ? parts[0]! : new ArrayType(length)
      if (parts.length !== 1) {
        let at = 0
        for (const part of parts) {
          all.set(part as never, at)
          at += part.length
        }
      }
      return makeData({ type, length, ...validity.finish(), data: all } as never) as Data
    },
  }
}

function booleans(): Builder {
  const validity = new Validity()
  const values: number[] = []
  return {
    append(vector, start, end) {
      const { dataView } = memory(vector)
      for (let i = start; i < end; i++) values.push(dataView.getUint8(i))
      validity.append(vector, start, end)
    },
    finish() {
      const bits = new Uint8Array((values.length + 7) >> 3)
      values.forEach((value, i) => {
        if (value) bits[i >> 3]! |= 1 << (i & 7)
      })
      return makeData({ type: new Bool(), length: values.length, ...validity.finish(), data: bits })
    },
  }
}

const smallest = -(1n << 63n)
const largest = (1n << 63n) - 1n

/**
 * Sums are 128 bits wide in DuckDB. They are 64 in the answer whenever they fit; of a stream its first batch decides for all.
 */
function wide(isSigned: boolean, stream: WideColumns | null): Builder {
  const place = stream?.next() ?? 0
  const validity = new Validity()
  const values: bigint[] = []
  return {
    append(vector, start, end) {
      const { dataView } = memory(vector)
      for (let i = start; i < end; i++) values.push(isValid(vector, i) ? read128(dataView, i * 16, isSigned) : 0n)
      validity.append(vector, start, end)
    },
    finish() {
      const fits = values.every((value) => value >= smallest && value <= largest)
      const isNarrow = stream ? stream.isNarrow(place, fits) : fits
      if (isNarrow && !fits) throw new QueryError('engine-refused', { message: 'A sum is beyond 64 bits: ask for it as toString(…)' })
      if (isNarrow) return makeData({ type: new Int64(), length: values.length, ...validity.finish(), data: BigInt64Array.from(values) })
      return decimalData(values, validity, 38, 0)
    },
  }
}

/** Which 128-bit columns of a stream go as 64 bits, by their order: all batches must have one schema. */
export class WideColumns {
  private readonly decided: boolean[] = []
  private column = 0

  begin(): void {
    this.column = 0
  }

  next(): number {
    return this.column++
  }

  isNarrow(column: number, fits: boolean): boolean {
    this.decided[column] ??= fits
    return this.decided[column]
  }
}

function read128(view: DataView, at: number, isSigned: boolean): bigint {
  const high = isSigned ? view.getBigInt64(at + 8, true) : view.getBigUint64(at + 8, true)
  return (high << 64n) | view.getBigUint64(at, true)
}

function decimalData(values: readonly bigint[], validity: Validity, precision: number, scale: number): Data {
  const words = new BigUint64Array(values.length * 2)
  values.forEach((value, i) => {
    const all = BigInt.asUintN(128, value)
    words[2 * i] = all & 0xffffffffffffffffn
    words[2 * i + 1] = all >> 64n
  })
  const data = new Uint32Array(words.buffer)
  return makeData({ type: new Decimal(scale, precision, 128), length: values.length, ...validity.finish(), data } as never) as Data
}

/** DuckDB keeps a decimal in the smallest integer that holds its digits. */
function readDecimal(view: DataView, index: number, width: number): bigint {
  if (width <= 4) return BigInt(view.getInt16(index * 2, true))
  if (width <= 9) return BigInt(view.getInt32(index * 4, true))
  if (width <= 18) return view.getBigInt64(index * 8, true)
  return read128(view, index * 16, true)
}

function decimals({ width, scale }: DuckDBDecimalType): Builder {
  const validity = new Validity()
  const values: bigint[] = []
  return {
    append(vector, start, end) {
      const { dataView } = memory(vector)
      for (let i = start; i < end; i++) values.push(isValid(vector, i) ? readDecimal(dataView, i, width) : 0n)
      validity.append(vector, start, end)
    },
    finish: () => decimalData(values, validity, width, scale),
  }
}

/** Each different text is kept once. */
function codedTexts(): Builder {
  const validity = new Validity()
  const codes = new Map<string, number>()
  // Texts of up to 12 bytes lie in the vector itself, 16 bytes with their length: the same bytes are the same text. Longer ones lie behind a
  // pointer, and the same pointer within one vector is the same text. Either way most texts are told apart without being read.
  const short = new Map<string, number>()
  const codeOf = (text: string): number => {
    const code = codes.get(text) ?? codes.size
    if (code === codes.size) codes.set(text, code)
    return code
  }
  const readers = (vector: DuckDBVector): ((row: number) => number) => {
    const { dataView } = memory(vector)
    if (vector.type.typeId !== DuckDBTypeId.VARCHAR || !dataView || dataView.byteOffset % 2 === 1)
      return (row) => codeOf(textItem(vector, row)!)
    const long = new Map<number, number>()
    const units = new Uint16Array(dataView.buffer, dataView.byteOffset, dataView.byteLength >> 1)
    return (row) => {
      const at = row * 8
      const bytes = units[at]! + units[at + 1]! * 65_536
      const isShort = bytes <= 12
      const key = isShort
        ? String.fromCharCode(bytes, units[at + 2]!, units[at + 3]!, units[at + 4]!, units[at + 5]!, units[at + 6]!, units[at + 7]!)
        : dataView.getUint32(row * 16 + 12, true) * 2 ** 32 + dataView.getUint32(row * 16 + 8, true)
      const seen = isShort ? short.get(key as string) : long.get(key as number)
      if (seen !== undefined) return seen
      const code = codeOf(vector.getItem(row) as string)
      if (isShort) short.set(key as string, code)
      else long.set(key as number, code)
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

function plainTexts(): Builder {
  const validity = new Validity()
  const values: string[] = []
  return {
    append(vector, start, end) {
      for (let i = start; i < end; i++) {
        const text = textItem(vector, i)
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

function lists(
  child: Builder,
  finish: (offsets: Int32Array, length: number, validity: Validity, child: Data) => Data,
  listOf = (v: DuckDBVector) => v as DuckDBListVector,
): Builder {
  const validity = new Validity()
  const offsets: number[] = [0]
  return {
    append(vector, start, end) {
      const list = listOf(vector)
      for (let i = start; i < end; i++) {
        const has = isValid(list, i)
        validity.appendOne(has)
        const from = has ? list.getEntryOffset(i) : 0
        const count = has ? list.getEntryLength(i) : 0
        if (count) child.append(list.childVector, from, from + count)
        offsets.push(offsets.at(-1)! + count)
      }
    },
    finish: () => finish(Int32Array.from(offsets), offsets.length - 1, validity, child.finish()),
  }
}

function structs(type: DuckDBStructType, stream: WideColumns | null): Builder {
  const children = type.entryTypes.map((entry) => builderOf(entry, stream))
  const validity = new Validity()
  let length = 0
  return {
    append(vector, start, end) {
      const { entryVectors } = memory(vector)
      children.forEach((child, i) => {
        child.append(entryVectors[i]!, start, end)
      })
      validity.append(vector, start, end)
      length += end - start
    },
    finish() {
      const data = children.map((child) => child.finish())
      const fields = data.map((child, i) => new Field(type.entryNames[i]! || String(i + 1), child.type, true))
      return makeData({ type: new Struct(fields), length, ...validity.finish(), children: data }) as Data
    },
  }
}

const items = (vector: DuckDBVector) => memory(vector).items

function builderOf(type: DuckDBType, stream: WideColumns | null): Builder {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return booleans()
    case DuckDBTypeId.TINYINT:
      return copied(new Int8(), Int8Array, items)
    case DuckDBTypeId.SMALLINT:
      return copied(new Int16(), Int16Array, items)
    case DuckDBTypeId.INTEGER:
      return copied(new Int32(), Int32Array, items)
    case DuckDBTypeId.BIGINT:
      return copied(new Int64(), BigInt64Array, items)
    case DuckDBTypeId.UTINYINT:
      return copied(new Uint8(), Uint8Array, items)
    case DuckDBTypeId.USMALLINT:
      return copied(new Uint16(), Uint16Array, items)
    case DuckDBTypeId.UINTEGER:
      return copied(new Uint32(), Uint32Array, items)
    case DuckDBTypeId.UBIGINT:
      return copied(new Uint64(), BigUint64Array, items)
    case DuckDBTypeId.FLOAT:
      return copied(new Float32(), Float32Array, items)
    case DuckDBTypeId.DOUBLE:
      return copied(new Float64(), Float64Array, items)
    case DuckDBTypeId.DATE:
      return copied(new DateDay(), Int32Array, items)
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return copied(new TimestampMicrosecond('UTC'), BigInt64Array, items)
    case DuckDBTypeId.HUGEINT:
      return wide(true, stream)
    case DuckDBTypeId.UHUGEINT:
      return wide(false, stream)
    case DuckDBTypeId.DECIMAL:
      return decimals(type as DuckDBDecimalType)
    case DuckDBTypeId.LIST: {
      const child = builderOf((type as { valueType: DuckDBType }).valueType, stream)
      return lists(
        child,
        (valueOffsets, length, validity, data) =>
          makeData({ type: new List(new Field('item', data.type, true)), length, ...validity.finish(), valueOffsets, child: data }) as Data,
      )
    }
    case DuckDBTypeId.MAP: {
      const { keyType, valueType } = type as unknown as { keyType: DuckDBType; valueType: DuckDBType }
      const entry = { entryTypes: [keyType, valueType], entryNames: ['key', 'value'] } as unknown as DuckDBStructType
      return lists(
        structs(entry, stream),
        (valueOffsets, length, validity, data) =>
          makeData({
            type: new Map_(new Field('entries', data.type, false) as never),
            length,
            ...validity.finish(),
            valueOffsets,
            child: data,
          } as never) as Data,
        (vector) => memory(vector).listVector,
      )
    }
    case DuckDBTypeId.STRUCT:
      return structs(type as DuckDBStructType, stream)
    case DuckDBTypeId.SQLNULL:
      return copied(new Int32(), Int32Array, (vector) => new Int32Array(vector.itemCount))
    default:
      return stream ? plainTexts() : codedTexts()
  }
}

/** Names of columns and the type that each has in the language, kept in the metadata of its field. */
export interface ResultColumn {
  readonly name: string
  readonly typeName: string
}

export const typeKey = 'waymark.type'

export interface BatchShape {
  readonly types: readonly DuckDBType[]
  readonly columns: readonly ResultColumn[]
  /** What the engine calls them: stands in where `columns` says nothing. */
  readonly names: readonly string[]
  /** One of many batches: all must have one schema, whatever their values are. */
  readonly stream?: WideColumns
}

/** One record batch of these chunks. */
export function recordBatch(chunks: readonly DuckDBDataChunk[], { types, columns, names, stream }: BatchShape): RecordBatch {
  stream?.begin()
  const builders = types.map((type) => builderOf(type, stream ?? null))
  let rows = 0
  for (const chunk of chunks) {
    const count = chunk.rowCount
    builders.forEach((builder, i) => {
      builder.append(chunk.getColumnVector(i), 0, count)
    })
    rows += count
  }
  const data = builders.map((builder) => builder.finish())
  const fields = data.map((column, i) => {
    const { name, typeName } = columns[i] ?? { name: names[i]!, typeName: '' }
    return new Field(name, column.type, true, typeName ? new Map([[typeKey, typeName]]) : undefined)
  })
  const schema = new Schema(fields)
  return new RecordBatch(schema, makeData({ type: new Struct(fields), length: rows, nullCount: 0, children: data }))
}
