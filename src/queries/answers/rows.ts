import {
  type Data,
  DataType,
  Field,
  makeData,
  RecordBatch,
  Struct,
  Table,
  Type,
  type TypeMap,
  tableFromJSON,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow'
import { PositionedSchema } from '../../lib/bytes/positioned-schema.ts'
import { type Micros, zoneOf } from '../../lib/time/zone.ts'
import { boxTable, chartTable } from './chart-table.ts'

// Arrow columns as the values of a JSON answer: times as ISO text in the project's zone, Booleans as 1 and 0, values without a JSON form as null.

export type JsonValue = null | number | string | boolean | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** All rows, each an array of values in the order of the columns. */
export function tableRows(table: Table<TypeMap>, timezone: string): JsonValue[][] {
  const columns = Array.from({ length: table.numCols }, (_, i) => valuesAt(table, i, timezone))
  return Array.from({ length: table.numRows }, (_, row) => columns.map((column) => column[row]!))
}

/** The values of one column. */
export function valuesAt(table: Table<TypeMap>, i: number, timezone: string): JsonValue[] {
  const values = columnValues(table.getChildAt(i)!, timezone)
  return isOwn(table.schema.fields[i]!) ? values.map((value) => (value === null ? null : (JSON.parse(String(value)) as JsonValue))) : values
}

/** Values of the type `Property` arrive as JSON. */
const isOwn = (field: Field): boolean => field.metadata.get(typeKey) === 'Dynamic'

export function columnValues(vector: Vector, timezone: string): JsonValue[] {
  const values: JsonValue[] = []
  for (const data of vector.data) {
    const read = reader(data, timezone)
    for (let i = 0; i < data.length; i++) values.push(read(i))
  }
  return values
}

type Read = (row: number) => JsonValue

function reader(data: Data, timezone: string): Read {
  const read = valueReader(data, timezone)
  if (data.nullCount === 0) return read
  return (row) => (data.getValid(row) ? read(row) : null)
}

function valueReader(data: Data, timezone: string): Read {
  const { type } = data
  if (DataType.isDictionary(type)) {
    const words = columnValues(data.dictionary!, timezone)
    const codes = data.values as Int32Array
    return (row) => words[codes[row]!]!
  }
  if (DataType.isUtf8(type)) {
    const { values, valueOffsets } = data as unknown as { values: Uint8Array; valueOffsets: Int32Array }
    return (row) => decoder.decode(values.subarray(valueOffsets[row], valueOffsets[row + 1]))
  }
  if (DataType.isBool(type)) {
    const bits = data.values as Uint8Array
    return (row) => {
      const at = row + data.offset
      return (bits[at >> 3]! >> (at & 7)) & 1
    }
  }
  if (DataType.isInt(type)) {
    const values = data.values as unknown as ArrayLike<number | bigint>
    return type.bitWidth === 64 ? (row) => bigNumber(values[row] as bigint) : (row) => values[row] as number
  }
  if (DataType.isFloat(type)) {
    const values = data.values as Float64Array
    return (row) => (Number.isFinite(values[row]) ? values[row]! : null)
  }
  if (DataType.isDate(type)) {
    const days = data.values as Int32Array
    return (row) => new Date(days[row]! * 86_400_000).toISOString().slice(0, 10)
  }
  if (DataType.isTimestamp(type)) {
    const micros = data.values as unknown as BigInt64Array
    const write = timeWriter(timezone)
    return (row) => write(Number(micros[row]))
  }
  if (DataType.isDecimal(type)) {
    const words = data.values as Uint32Array
    const width = type.bitWidth / 32
    return (row) => decimalNumber(words.subarray(row * width, (row + 1) * width), type.scale)
  }
  if (DataType.isList(type)) {
    const offsets = data.valueOffsets as Int32Array
    const items = reader(data.children[0]!, timezone)
    return (row) => range(offsets[row]!, offsets[row + 1]!, items)
  }
  if (DataType.isStruct(type)) {
    const fields = data.children.map((child) => reader(child, timezone))
    return (row) => fields.map((field) => field(row))
  }
  if (type.typeId === Type.Map) {
    const offsets = data.valueOffsets as Int32Array
    const [keys, values] = data.children[0]!.children.map((child) => reader(child, timezone)) as [Read, Read]
    return (row) => {
      const entries: [string, JsonValue][] = []
      for (let i = offsets[row]!; i < offsets[row + 1]!; i++) entries.push([String(keys(i)), values(i)])
      return Object.fromEntries(entries)
    }
  }
  return () => null
}

const decoder = new TextDecoder()
const range = (start: number, end: number, item: Read): JsonValue[] => Array.from({ length: end - start }, (_, i) => item(start + i))

/** Beyond 2^53 a number would lose digits, so it is sent as text. */
const bigNumber = (value: bigint): number | string =>
  value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value.toString()

function decimalNumber(words: Uint32Array, scale: number): number | string {
  const value = BigInt.asIntN(
    words.length * 32,
    words.reduceRight((all, word) => (all << 32n) | BigInt(word), 0n),
  )
  if (scale === 0) return bigNumber(value)
  // From its digits: a division would round a second time.
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0')
  return Number(`${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`)
}

/** `2024-01-05T10:00:00Z` in UTC, `2024-01-05T05:00:00-05:00` in other zones; with a fraction only if it is not zero. */
export function timeWriter(timezone: string): (micros: Micros) => string {
  const zone = zoneOf(timezone)
  return (micros) => {
    const offset = zone.offsetAt(micros)
    const wall = micros + offset
    const whole = Math.floor(wall / 1_000_000)
    const fraction = wall - whole * 1_000_000
    const text = new Date(whole * 1000).toISOString().slice(0, 19)
    return `${text}${fraction ? `.${String(fraction).padStart(6, '0')}` : ''}${zone.name === 'UTC' ? 'Z' : offsetText(offset)}`
  }
}

function offsetText(offset: Micros): string {
  const minutes = Math.round(Math.abs(offset) / 60_000_000)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** The metadata of a field that holds its type in the language. */
const typeKey = 'waymark.type'

export const columnTypes = (table: Table): [name: string, type: string][] =>
  table.schema.fields.map((column) => [column.name, column.metadata.get(typeKey) ?? 'Nullable(String)'])

const tables = new WeakMap<object, Table>()

/** The rows of a statement for its answer. The table stays attached, for callers that need typed columns. */
export function resultRows(table: Table<TypeMap>, timezone: string): JsonValue[][] {
  const rows = tableRows(table, timezone)
  tables.set(rows, table)
  return rows
}

/** The results of an answer as columns: those of the engine for a statement, a row for each point of a chart. Other nested values become JSON text. */
export function answerTable(answer: object): Table {
  const {
    results,
    columns,
    boxplot_data: boxes,
  } = answer as {
    results?: unknown
    columns?: readonly string[]
    boxplot_data?: Parameters<typeof boxTable>[0]
  }
  if (boxes) return boxTable(boxes)
  const known = typeof results === 'object' && results !== null ? tables.get(results) : undefined
  if (known) return known.schema.fields.some(isOwn) ? withTexts(known) : known
  const chart = chartTable(answer)
  if (chart) return chart
  const rows = Array.isArray(results) ? (results as unknown[]) : results === undefined ? [] : [results]
  const flat = rows.map((row) => {
    const entries = Array.isArray(row)
      ? row.map((value, i): [string, unknown] => [columns?.[i] ?? String(i), value])
      : Object.entries(row as object)
    return Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'object' && value !== null ? JSON.stringify(value) : value]),
    )
  })
  return flat.length ? (tableFromJSON(flat) as Table) : new Table()
}

/** Columns with a single type: a value that is a number or a text becomes text. */
function withTexts(table: Table): Table {
  const columns = table.schema.fields.map((field, i): ShownColumn => {
    const values = isOwn(field) ? valuesAt(table, i, 'UTC').map((value) => (value === null ? null : String(value))) : null
    return { name: field.name, cells: values ? (row) => values[row]! : table.getChildAt(i)!, field: values ? null : field }
  })
  return shownTable(table.numRows, columns)
}

/** A column of a page as the answer shows it: a column of the engine, or values built from several, as JSON text. */
export interface ShownColumn {
  readonly name: string
  readonly cells: Vector | ((row: number) => JsonValue)
  /** The engine's own field, which has the type. */
  readonly field: Field | null
}

/** The columns of one page. All pages of an answer have one schema. */
export function shownTable(numRows: number, columns: readonly ShownColumn[]): Table {
  const data = columns.map(({ cells }) =>
    typeof cells === 'function' ? textData(Array.from({ length: numRows }, (_, row) => jsonCell(cells(row)))) : wholeData(cells),
  )
  const fields = columns.map(({ name, field }, i) => new Field(name, data[i]!.type, true, field?.metadata))
  const schema = new PositionedSchema(fields)
  return new Table(schema, [new RecordBatch(schema, makeData({ type: new Struct(fields), length: numRows, nullCount: 0, children: data }))])
}

const jsonCell = (value: JsonValue): string | null => (value === null || typeof value === 'string' ? value : JSON.stringify(value))
const textData = (texts: readonly (string | null)[]): Data => vectorFromArray(texts, new Utf8()).data[0]!
/** A page is one batch, so that each column is contiguous. */
const wholeData = (vector: Vector): Data => vector.data[0]!
