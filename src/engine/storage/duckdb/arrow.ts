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
  Struct,
  TimestampMicrosecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
} from 'apache-arrow'
import { QueryError } from '../../../errors/errors.ts'
import { distinctNames } from '../../../language/types/tuple-elements.ts'
import { type SqlType, tupleOf } from '../../../language/types/types.ts'
import { PositionedSchema } from '../../../lib/bytes/positioned-schema.ts'
import type { ResultColumn } from '../../execution/ports.ts'
import { codedTexts, isUnique, plainTexts } from './arrow-texts.ts'
import { type Builder, Bytes, memory, type NumberArray, Validity, validRows } from './vector-memory.ts'

// DuckDB's vectors as Arrow columns. Numbers, times and Booleans are copied as memory; only texts become JavaScript values on the way.

interface NumberArrayType {
  readonly BYTES_PER_ELEMENT: number
  new (length: number): NumberArray
  new (buffer: ArrayBufferLike, offset: number, length: number): NumberArray
}

/** Values with the same layout in DuckDB and Arrow. They are copied, because a chunk's memory belongs to DuckDB and is freed with the chunk. */
function copied(
  type: DataType,
  ArrayType: NumberArrayType,
  raw: (vector: DuckDBVector) => NumberArray,
  { rows, bytes }: Expected,
): Builder {
  let validity = new Validity()
  let values = new ArrayType(rows)
  let length = 0
  return {
    append(vector, start, end) {
      bytes.take((end - start) * ArrayType.BYTES_PER_ELEMENT)
      const items = raw(vector)
      const after = length + end - start
      if (after > values.length) {
        const wider = new ArrayType(Math.max(after, values.length * 2))
        wider.set(values as never)
        values = wider
      }
      values.set((start === 0 && end === items.length ? items : items.subarray(start, end)) as never, length)
      validity.append(vector, start, end)
      length = after
    },
    finish() {
      const data = length * 2 < values.length ? values.slice(0, length) : values.subarray(0, length)
      return makeData({ type, length, ...validity.finish(), data } as never) as Data
    },
    restart() {
      validity = new Validity()
      length = 0
    },
  }
}

function booleans(bytes: Bytes): Builder {
  const validity = new Validity()
  let bits = new Uint8Array(256)
  let length = 0
  return {
    append(vector, start, end) {
      bytes.take(end - start)
      const { dataView } = memory(vector)
      const needed = (length + end - start + 7) >> 3
      if (needed > bits.length) {
        const wider = new Uint8Array(Math.max(needed, bits.length * 2))
        wider.set(bits)
        bits = wider
      }
      for (let i = start; i < end; i++, length++) if (dataView.getUint8(i)) bits[length >> 3]! |= 1 << (length & 7)
      validity.append(vector, start, end)
    },
    finish: () => makeData({ type: new Bool(), length, ...validity.finish(), data: bits.slice(0, (length + 7) >> 3) }),
  }
}

const smallest = -(1n << 63n)
const largest = (1n << 63n) - 1n

/**
 * DuckDB's sums are 128 bits wide. In an answer they are 64 bits if all values fit; for a stream the first batch decides.
 */
function wide(isSigned: boolean, { stream, bytes }: Expected): Builder {
  const at = stream?.next() ?? 0
  const validity = new Validity()
  const values: bigint[] = []
  return {
    append(vector, start, end) {
      bytes.take(16 * (end - start))
      const { dataView } = memory(vector)
      const isValid = validRows(vector)
      for (let i = start; i < end; i++) values.push(isValid(i) ? read128(dataView, i * 16, isSigned) : 0n)
      validity.append(vector, start, end)
    },
    finish() {
      const fits = values.every((value) => value >= smallest && value <= largest)
      const isNarrow = stream ? stream.isNarrow(at, fits) : fits
      if (isNarrow) return makeData({ type: new Int64(), length: values.length, ...validity.finish(), data: BigInt64Array.from(values) })
      // The largest unsigned integers need one bit more than a signed 128-bit decimal has.
      return isSigned ? decimalData(values, validity, 38, 0) : decimalData(values, validity, 76, 0, 256)
    },
  }
}

/** Which 128-bit columns of a stream are sent as 64 bits, by index: all batches must have one schema. */
export class WideColumns {
  private readonly narrow: boolean[] = []
  private column = 0
  private widened = false

  begin(): void {
    this.column = 0
  }

  next(): number {
    return this.column++
  }

  /** The first batch decides. A later batch that does not fit is rejected, and the column is known to be wide when the stream restarts. */
  isNarrow(column: number, fits: boolean): boolean {
    this.narrow[column] ??= fits
    if (!this.narrow[column] || fits) return this.narrow[column]
    this.narrow[column] = false
    this.widened = true
    throw new QueryError('engine-refused', { message: 'A sum exceeds 64 bits: select it as toString(…)' })
  }

  /** Has a column become 128 bits wide since the last call? */
  hasWidened(): boolean {
    const { widened } = this
    this.widened = false
    return widened
  }
}

function read128(view: DataView, at: number, isSigned: boolean): bigint {
  const high = isSigned ? view.getBigInt64(at + 8, true) : view.getBigUint64(at + 8, true)
  return (high << 64n) | view.getBigUint64(at, true)
}

function decimalData(values: readonly bigint[], validity: Validity, precision: number, scale: number, bits: 128 | 256 = 128): Data {
  const width = bits / 64
  const words = new BigUint64Array(values.length * width)
  values.forEach((value, i) => {
    for (let word = 0; word < width; word++) words[width * i + word] = BigInt.asUintN(64, value >> BigInt(64 * word))
  })
  const data = new Uint32Array(words.buffer)
  return makeData({ type: new Decimal(scale, precision, bits), length: values.length, ...validity.finish(), data } as never) as Data
}

/** DuckDB keeps a decimal in the smallest integer that holds its digits. */
function readDecimal(view: DataView, index: number, width: number): bigint {
  if (width <= 4) return BigInt(view.getInt16(index * 2, true))
  if (width <= 9) return BigInt(view.getInt32(index * 4, true))
  if (width <= 18) return view.getBigInt64(index * 8, true)
  return read128(view, index * 16, true)
}

function decimals({ width, scale }: DuckDBDecimalType, bytes: Bytes): Builder {
  const validity = new Validity()
  const values: bigint[] = []
  return {
    append(vector, start, end) {
      bytes.take(16 * (end - start))
      const { dataView } = memory(vector)
      const isValid = validRows(vector)
      for (let i = start; i < end; i++) values.push(isValid(i) ? readDecimal(dataView, i, width) : 0n)
      validity.append(vector, start, end)
    },
    finish: () => decimalData(values, validity, width, scale),
  }
}

function lists(
  child: Builder,
  bytes: Bytes,
  finish: (offsets: Int32Array, length: number, validity: Validity, child: Data) => Data,
  listOf = (v: DuckDBVector) => v as DuckDBListVector,
): Builder {
  const validity = new Validity()
  const offsets: number[] = [0]
  return {
    append(vector, start, end) {
      bytes.take(4 * (end - start))
      const list = listOf(vector)
      const isValid = validRows(list)
      for (let i = start; i < end; i++) {
        const has = isValid(i)
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

function structs(type: DuckDBStructType, expected: Expected, shown?: SqlType): Builder {
  const [items, names] = shown?.kind === 'tuple' ? [shown.items, shown.names ?? []] : [[], type.entryNames]
  const children = type.entryTypes.map((entry, i) => builderOf(entry, expected, items[i]))
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
      const shownNames = distinctNames(data.map((_, i) => names[i]))
      const fields = data.map((child, i) => new Field(shownNames[i]!, child.type, true))
      return makeData({ type: new Struct(fields), length, ...validity.finish(), children: data }) as Data
    },
  }
}

const items = (vector: DuckDBVector) => memory(vector).items

interface Expected {
  /** The number of rows, if it is known. */
  readonly rows: number
  readonly stream: WideColumns | null
  readonly bytes: Bytes
}

/** `shown`: the type in the language, which has the names of tuple elements. */
function builderOf(type: DuckDBType, expected: Expected, shown?: SqlType): Builder {
  const { stream, bytes } = expected
  const inner = { ...expected, rows: 0 }
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return booleans(bytes)
    case DuckDBTypeId.TINYINT:
      return copied(new Int8(), Int8Array, items, expected)
    case DuckDBTypeId.SMALLINT:
      return copied(new Int16(), Int16Array, items, expected)
    case DuckDBTypeId.INTEGER:
      return copied(new Int32(), Int32Array, items, expected)
    case DuckDBTypeId.BIGINT:
      return copied(new Int64(), BigInt64Array, items, expected)
    case DuckDBTypeId.UTINYINT:
      return copied(new Uint8(), Uint8Array, items, expected)
    case DuckDBTypeId.USMALLINT:
      return copied(new Uint16(), Uint16Array, items, expected)
    case DuckDBTypeId.UINTEGER:
      return copied(new Uint32(), Uint32Array, items, expected)
    case DuckDBTypeId.UBIGINT:
      return copied(new Uint64(), BigUint64Array, items, expected)
    case DuckDBTypeId.FLOAT:
      return copied(new Float32(), Float32Array, items, expected)
    case DuckDBTypeId.DOUBLE:
      return copied(new Float64(), Float64Array, items, expected)
    case DuckDBTypeId.DATE:
      return copied(new DateDay(), Int32Array, items, expected)
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return copied(new TimestampMicrosecond('UTC'), BigInt64Array, items, expected)
    case DuckDBTypeId.HUGEINT:
      return wide(true, expected)
    case DuckDBTypeId.UHUGEINT:
      return wide(false, expected)
    case DuckDBTypeId.DECIMAL:
      return decimals(type as DuckDBDecimalType, bytes)
    case DuckDBTypeId.LIST: {
      const child = builderOf((type as { valueType: DuckDBType }).valueType, inner, shown?.kind === 'array' ? shown.item : undefined)
      return lists(
        child,
        bytes,
        (valueOffsets, length, validity, data) =>
          makeData({ type: new List(new Field('item', data.type, true)), length, ...validity.finish(), valueOffsets, child: data }) as Data,
      )
    }
    case DuckDBTypeId.MAP: {
      const { keyType, valueType } = type as unknown as { keyType: DuckDBType; valueType: DuckDBType }
      const entry = { entryTypes: [keyType, valueType], entryNames: ['key', 'value'] } as unknown as DuckDBStructType
      return lists(
        structs(entry, inner, shown?.kind === 'map' ? tupleOf([shown.key, shown.value], ['key', 'value']) : undefined),
        bytes,
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
      return structs(type as DuckDBStructType, inner, shown)
    case DuckDBTypeId.SQLNULL:
      return copied(new Int32(), Int32Array, (vector) => new Int32Array(vector.itemCount), expected)
    default:
      return stream || isUnique(type) ? plainTexts(expected.rows, bytes) : codedTexts(bytes)
  }
}

const typeKey = 'waymark.type'

export interface BatchShape {
  readonly types: readonly DuckDBType[]
  readonly columns: readonly ResultColumn[]
  /** The engine's column names: used where `columns` has none. */
  readonly names: readonly string[]
  /** One of several batches: all must have one schema, whatever their values. */
  readonly stream?: WideColumns
}

/** Collects chunks into one record batch. */
export class BatchBuilder {
  rows = 0
  private builders: readonly Builder[]

  /** `expected`: the number of rows, if it is known. */
  constructor(
    private readonly shape: BatchShape,
    private readonly expected = 0,
    readonly bytes = new Bytes(),
  ) {
    shape.stream?.begin()
    this.builders = shape.types.map((_, i) => this.builder(i))
  }

  /** Starts again in the same memory, which invalidates the finished batch. */
  restart(): void {
    this.rows = 0
    this.builders = this.builders.map((builder, i) => {
      if (!builder.restart) return this.builder(i)
      builder.restart()
      return builder
    })
  }

  private builder(i: number): Builder {
    const { types, columns } = this.shape
    return builderOf(types[i]!, { rows: this.expected, stream: this.shape.stream ?? null, bytes: this.bytes }, columns[i]?.type)
  }

  /** Rows [start, end) of the chunk. */
  append(chunk: DuckDBDataChunk, start = 0, end = chunk.rowCount): void {
    this.builders.forEach((builder, i) => {
      builder.append(chunk.getColumnVector(i), start, end)
    })
    this.rows += end - start
  }

  finish(): RecordBatch {
    const { columns, names } = this.shape
    const data = this.builders.map((builder) => builder.finish())
    const fields = data.map((column, i) => {
      const { name, typeName } = columns[i] ?? { name: names[i]!, typeName: '' }
      return new Field(name, column.type, true, typeName ? new Map([[typeKey, typeName]]) : undefined)
    })
    const schema = new PositionedSchema(fields)
    return new RecordBatch(schema, makeData({ type: new Struct(fields), length: this.rows, nullCount: 0, children: data }))
  }
}
