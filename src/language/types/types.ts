import type { PropertyInfo } from './property-info.ts'

// The type system of the language, with ClickHouse's names, which readers of `types` in an answer expect.
//
// How DuckDB represents values of a type, so that cells and printer agree:
//   Bool                  BOOLEAN: the type of comparisons, of `and`, `like`, `isNull`, `in` and of true and false. ClickHouse and answers call it
//                         UInt8 (1 and 0). A cell that computes with one casts it first. Nothing else is BOOLEAN.
//   UInt8 … Int64         an integer type, often wider than the name says; UInt64 sums may be HUGEINT
//   Int128 … UInt256      HUGEINT: values beyond 127 bits are rejected
//   Float32, Float64      DOUBLE
//   DateTime, DateTime64  TIMESTAMP in UTC, without a zone; cells apply the zone of their context
//   Date, UUID            DATE, UUID
//   String, JSON, IPv4    VARCHAR
//   Property              DOUBLE or VARCHAR, see property-values.ts
//   Dynamic               VARCHAR: the JSON of a value, in a column of an answer
//   Interval              INTERVAL
//   Array, Tuple, Map     LIST, STRUCT (unnamed: made with row(…)), MAP

export type ScalarName =
  | 'Nothing'
  | 'Bool'
  | 'UInt8'
  | 'UInt16'
  | 'UInt32'
  | 'UInt64'
  | 'UInt128'
  | 'UInt256'
  | 'Int8'
  | 'Int16'
  | 'Int32'
  | 'Int64'
  | 'Int128'
  | 'Int256'
  | 'Float32'
  | 'Float64'
  | 'Decimal'
  | 'String'
  | 'UUID'
  | 'IPv4'
  | 'IPv6'
  | 'Date'
  | 'DateTime'
  | 'DateTime64'
  | 'Interval'
  | 'JSON'
  | 'Property'
  | 'Dynamic'

export interface ScalarType {
  readonly kind: 'scalar'
  readonly name: ScalarName
  readonly nullable: boolean
  /** Decimal: [precision, scale]. DateTime64: [digits of the fraction]. */
  readonly parameters?: readonly number[]
  /** Interval: its unit. */
  readonly unit?: string
  /** DateTime, DateTime64: the zone in which it is shown and truncated, if not the project's (`toTimeZone(x, 'Asia/Tokyo')`). */
  readonly zone?: string
  /** The property that the values are, or were computed from. */
  readonly property?: PropertyInfo
}
export interface ArrayType {
  readonly kind: 'array'
  readonly item: SqlType
}
export interface TupleType {
  readonly kind: 'tuple'
  readonly items: readonly SqlType[]
  readonly names?: readonly string[]
}
export interface MapType {
  readonly kind: 'map'
  readonly key: SqlType
  readonly value: SqlType
}
/** A type that only the engine knows. Treated as nullable. */
export interface UnknownType {
  readonly kind: 'unknown'
}
/** The intermediate state of an aggregate (`sumState(x)`). */
export interface StateType {
  readonly kind: 'state'
  readonly aggregate: string
  readonly args: readonly SqlType[]
}
/** The type of a lambda argument before it is applied. */
export interface LambdaType {
  readonly kind: 'lambda'
  readonly result: SqlType
}

export type SqlType = ScalarType | ArrayType | TupleType | MapType | UnknownType | StateType | LambdaType

export const scalar = (name: ScalarName, nullable = false): ScalarType => ({ kind: 'scalar', name, nullable })
export const arrayOf = (item: SqlType): ArrayType => ({ kind: 'array', item })
export const tupleOf = (items: readonly SqlType[], names?: readonly string[]): TupleType => ({ kind: 'tuple', items, names })
export const mapOf = (key: SqlType, value: SqlType): MapType => ({ kind: 'map', key, value })
export const unknownType: UnknownType = { kind: 'unknown' }

export const isNullable = (type: SqlType): boolean =>
  type.kind === 'scalar' ? type.nullable || type.name === 'Nothing' : type.kind === 'unknown'
export const nullable = (type: SqlType): SqlType => (type.kind === 'scalar' && !type.nullable ? { ...type, nullable: true } : type)
export const notNull = (type: SqlType): SqlType => (type.kind === 'scalar' && type.nullable ? { ...type, nullable: false } : type)

/** The engine's view: elements of tuples are identified by position. */
export function withoutNames(type: SqlType): SqlType {
  switch (type.kind) {
    case 'array':
      return arrayOf(withoutNames(type.item))
    case 'map':
      return mapOf(withoutNames(type.key), withoutNames(type.value))
    case 'tuple':
      return tupleOf(type.items.map(withoutNames))
    default:
      return type
  }
}

const sizes = new WeakMap<SqlType, number>()
/** The number of types in an expanded type: a type that occurs twice counts twice. */
export function sizeOfType(type: SqlType): number {
  if (type.kind === 'scalar' || type.kind === 'unknown') return 1
  const known = sizes.get(type)
  if (known !== undefined) return known
  const parts =
    type.kind === 'array'
      ? [type.item]
      : type.kind === 'tuple'
        ? type.items
        : type.kind === 'map'
          ? [type.key, type.value]
          : type.kind === 'state'
            ? type.args
            : [type.result]
  const size = parts.reduce((sum, part) => sum + sizeOfType(part), 1)
  sizes.set(type, size)
  return size
}

const floats: ReadonlySet<string> = new Set(['Float32', 'Float64'])
export const isNamed = (type: SqlType, ...names: ScalarName[]): boolean => type.kind === 'scalar' && names.includes(type.name)
const integers: ReadonlySet<string> = new Set([
  'Bool',
  ...['Int', 'UInt'].flatMap((name) => [8, 16, 32, 64, 128, 256].map((bits) => name + bits)),
])
export const isInteger = (type: SqlType): boolean => type.kind === 'scalar' && integers.has(type.name)
export const isFloat = (type: SqlType): boolean => type.kind === 'scalar' && floats.has(type.name)
export const isNumeric = (type: SqlType): boolean => isInteger(type) || isFloat(type) || isNamed(type, 'Decimal')
export const isText = (type: SqlType): boolean => isNamed(type, 'String')
export const isTime = (type: SqlType): boolean => isNamed(type, 'Date', 'DateTime', 'DateTime64')

/** The name as ClickHouse spells it: `Nullable(String)`, `Array(UInt8)`. */
export function typeName(type: SqlType): string {
  switch (type.kind) {
    case 'scalar': {
      const parameters = type.parameters?.length ? `(${type.parameters.join(', ')})` : ''
      const plain = type.name === 'Interval' ? `Interval${type.unit ?? ''}` : `${type.name}${parameters}`
      return type.nullable || type.name === 'Nothing' ? `Nullable(${plain})` : plain
    }
    case 'array':
      return `Array(${typeName(type.item)})`
    case 'tuple':
      return `Tuple(${type.items.map((item, i) => (type.names?.[i] ? `${type.names[i]} ${typeName(item)}` : typeName(item))).join(', ')})`
    case 'map':
      return `Map(${typeName(type.key)}, ${typeName(type.value)})`
    case 'state':
      return `AggregateFunction(${[type.aggregate, ...type.args.map(typeName)].join(', ')})`
    case 'lambda':
      return `Function(${typeName(type.result)})`
    case 'unknown':
      return 'Nullable(String)'
  }
}

/** The name in answers: Booleans are bytes, documents are text, and times have the zone in which they are shown. */
export function shownTypeName(type: SqlType, timezone: string): string {
  switch (type.kind) {
    case 'scalar': {
      const zone = `'${timezone}'`
      const shown =
        type.name === 'Bool'
          ? 'UInt8'
          : type.name === 'JSON' || type.name === 'Property'
            ? 'String'
            : type.name === 'DateTime64'
              ? `DateTime64(${type.parameters?.[0] ?? 6}, ${zone})`
              : type.name === 'DateTime'
                ? `DateTime(${zone})`
                : typeName(notNull(type))
      return type.nullable && type.name !== 'Nothing' ? `Nullable(${shown})` : shown
    }
    case 'array':
      return `Array(${shownTypeName(type.item, timezone)})`
    case 'tuple':
      return `Tuple(${type.items.map((item, i) => [...(type.names?.[i] ? [type.names[i]] : []), shownTypeName(item, timezone)].join(' ')).join(', ')})`
    case 'map':
      return `Map(${shownTypeName(type.key, timezone)}, ${shownTypeName(type.value, timezone)})`
    default:
      return typeName(type)
  }
}
