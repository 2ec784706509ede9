import {
  type Data,
  DataType,
  DateUnit,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  RecordBatch,
  Struct,
  TimestampMicrosecond,
  TimeUnit,
  Type,
  Utf8,
} from 'apache-arrow'
import { QueryError } from '../../../errors/errors.ts'
import { parseType } from '../../../language/types/parse.ts'
import { distinctNames } from '../../../language/types/tuple-elements.ts'
import type { SqlType } from '../../../language/types/types.ts'
import { PositionedSchema } from '../../../lib/bytes/positioned-schema.ts'
import type { ResultColumn } from '../../execution/ports.ts'
import { textData } from './text-data.ts'

// Converts the server's Arrow columns to those of the other engine: times in microseconds, UUIDs and addresses as text, wide integers as 64 bits or decimals.

/** The metadata key of a field for its type in the language. */
const typeKey = 'waymark.type'

/** Converts batches of one answer to the columns of a statement. `isStream`: all batches must have one schema, whatever their values. */
export function batchShaper(columns: readonly ResultColumn[], isStream: boolean): (batch: RecordBatch) => RecordBatch {
  const types = columns.map(({ typeName }) => readType(typeName))
  return (batch) => {
    const children = batch.data.children.map((data, i) =>
      adapted(data, { type: types[i] ?? null, field: batch.schema.fields[i]!, isStream }),
    )
    const fields = children.map((data, i) => {
      const { name, typeName } = columns[i] ?? { name: batch.schema.fields[i]!.name, typeName: '' }
      return new Field(name, data.type, true, typeName ? new Map([[typeKey, typeName]]) : undefined)
    })
    const schema = new PositionedSchema(fields)
    return new RecordBatch(schema, makeData({ type: new Struct(fields), length: batch.numRows, nullCount: 0, children }))
  }
}

/** Time zones and precisions do not affect the memory layout. */
const readType = (typeName: string): SqlType | null =>
  parseType(typeName.replace(/(DateTime64)\([^()]*\)/g, '$1').replace(/(DateTime)\('[^']*'\)/g, '$1'))

interface Wanted {
  readonly type: SqlType | null
  readonly field: Field
  readonly isStream: boolean
}

const named = (type: SqlType | null, pattern: RegExp): boolean => type?.kind === 'scalar' && pattern.test(type.name)
const nullsOf = ({ nullCount, nullBitmap }: Data) => ({ nullCount, nullBitmap: nullCount > 0 ? nullBitmap : undefined })
const scaled = (data: Data, type: DataType, values: BigInt64Array): Data =>
  makeData({ type, length: data.length, ...nullsOf(data), data: values } as never) as Data
const times = (data: Data, micros: (value: bigint) => bigint): Data =>
  scaled(
    data,
    new TimestampMicrosecond('UTC'),
    BigInt64Array.from(data.values as ArrayLike<number | bigint>, (value) => micros(BigInt(value))),
  )

function adapted(data: Data, wanted: Wanted): Data {
  const { type, isStream } = wanted
  const arrow = data.type as DataType
  if (DataType.isNull(arrow))
    return makeData({
      type: new Int32(),
      length: data.length,
      nullCount: data.length,
      nullBitmap: new Uint8Array((data.length + 7) >> 3),
      data: new Int32Array(data.length),
    }) as Data
  if (DataType.isTimestamp(arrow)) {
    if (arrow.unit === TimeUnit.MICROSECOND) return scaled(data, new TimestampMicrosecond('UTC'), data.values as unknown as BigInt64Array)
    if (arrow.unit === TimeUnit.NANOSECOND) return times(data, (value) => value / 1000n)
    return times(data, (value) => value * (arrow.unit === TimeUnit.SECOND ? 1_000_000n : 1000n))
  }
  if (DataType.isDate(arrow))
    return named(type, /^DateTime/) && arrow.unit === DateUnit.DAY ? times(data, (days) => days * 86_400_000_000n) : data
  if (DataType.isInt(arrow) && named(type, /^DateTime/)) return times(data, (seconds) => seconds * 1_000_000n)
  if (DataType.isInt(arrow) && named(type, /^IPv4$/)) {
    const values = data.values as Uint32Array
    return textData(data, (row) => [24, 16, 8, 0].map((shift) => (values[row]! >>> shift) & 255).join('.'))
  }
  if (DataType.isFloat(arrow) && data.values instanceof Float32Array)
    return makeData({ type: new Float64(), length: data.length, ...nullsOf(data), data: Float64Array.from(data.values, shortest) }) as Data
  if (DataType.isFixedSizeBinary(arrow)) return fixedBytes(data, arrow.byteWidth, wanted)
  if (DataType.isDecimal(arrow)) return arrow.bitWidth === 256 ? wideData(data, 32, arrow.scale, true, isStream) : data
  if (DataType.isList(arrow)) {
    const inner = { type: type?.kind === 'array' ? type.item : null, field: arrow.children[0]!, isStream }
    const child = adapted(childOf(data, 0), inner)
    const list = new List(new Field('item', child.type, true))
    return makeData({ type: list, length: data.length, ...nullsOf(data), valueOffsets: data.valueOffsets, child }) as Data
  }
  if (DataType.isStruct(arrow)) return structData(data, type?.kind === 'tuple' ? type.items : [], isStream)
  if (arrow.typeId === Type.Map) {
    const child = structData(childOf(data, 0), type?.kind === 'map' ? [type.key, type.value] : [], isStream)
    const map = new Map_(new Field('entries', child.type, false) as never)
    return makeData({ type: map, length: data.length, ...nullsOf(data), valueOffsets: data.valueOffsets, child } as never) as Data
  }
  if (DataType.isBinary(arrow))
    return makeData({ type: new Utf8(), length: data.length, ...nullsOf(data), valueOffsets: data.valueOffsets, data: data.values }) as Data
  return data
}

/** An answer without rows has a batch without the columns inside of lists and maps. */
const childOf = (data: Data, i: number): Data => data.children[i] ?? makeData({ type: (data.type as Struct).children[i]!.type, length: 0 })

function structData(data: Data, types: readonly SqlType[], isStream: boolean): Data {
  const fields = (data.type as Struct).children
  const children = fields.map((_, i) => adapted(childOf(data, i), { type: types[i] ?? null, field: fields[i]!, isStream }))
  const names = distinctNames(fields.map(({ name }) => name))
  const type = new Struct(children.map((child, i) => new Field(names[i]!, child.type, true)))
  return makeData({ type, length: data.length, ...nullsOf(data), children }) as Data
}

function fixedBytes(data: Data, width: number, { type, field, isStream }: Wanted): Data {
  const bytes = data.values as Uint8Array
  const at = (row: number) => bytes.subarray(row * width, (row + 1) * width)
  if (field.metadata.get('ARROW:extension:name') === 'arrow.uuid' || named(type, /^UUID$/))
    return textData(data, (row) =>
      Buffer.from(at(row))
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    )
  if (named(type, /^IPv6$/)) return textData(data, (row) => addressText(at(row)))
  if (named(type, /^U?Int\d+$/)) return wideData(data, width, 0, named(type, /^Int/), isStream)
  return textData(data, (row) => Buffer.from(withoutPadding(at(row))).toString())
}

function withoutPadding(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}

const addressText = (bytes: Uint8Array): string => {
  const words = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16))
  return new URL(`http://[${words.join(':')}]/`).hostname.slice(1, -1)
}

const fitsIn = (bits: number) => (value: bigint) => BigInt.asIntN(bits, value) === value

/** Integers of 128 and 256 bits, and decimals of the same width. In a complete answer they are 64 bits wide if all values fit. */
function wideData(data: Data, width: number, scale: number, isSigned: boolean, isStream: boolean): Data {
  const values = Array.from({ length: data.length }, (_, row) =>
    data.getValid(row) ? readWide(data.values as Uint8Array | Uint32Array, row, width, isSigned) : 0n,
  )
  if (scale === 0 && !isStream && values.every(fitsIn(64))) return scaled(data, new Int64(), BigInt64Array.from(values))
  if (!values.every(fitsIn(128))) throw new QueryError('engine-refused', { message: 'A number exceeds 128 bits: select it as toString(…)' })
  const words = new BigUint64Array(values.length * 2)
  values.forEach((value, i) => {
    words[2 * i] = BigInt.asUintN(64, value)
    words[2 * i + 1] = BigInt.asUintN(64, value >> 64n)
  })
  return makeData({
    type: new Decimal(scale, 38, 128),
    length: data.length,
    ...nullsOf(data),
    data: new Uint32Array(words.buffer),
  } as never) as Data
}

function readWide(values: Uint8Array | Uint32Array, row: number, width: number, isSigned: boolean): bigint {
  const view = new DataView(values.buffer, values.byteOffset + row * width, width)
  let value = 0n
  for (let at = width - 8; at >= 0; at -= 8) value = (value << 64n) | view.getBigUint64(at, true)
  return isSigned ? BigInt.asIntN(width * 8, value) : value
}

/** The shortest decimal that equals this number in 32 bits. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}
