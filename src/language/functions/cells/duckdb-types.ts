import { isInteger, type ScalarName, type ScalarType, type SqlType } from '../../types/types.ts'

// The types of DuckDB, for casts of the printer and of cells. language/types/types.ts says what values of each look like.

const scalars: Readonly<Record<ScalarName, string>> = {
  // The type of NULL, which converts to any other.
  Nothing: '"NULL"',
  Bool: 'BOOLEAN',
  UInt8: 'UTINYINT',
  UInt16: 'USMALLINT',
  UInt32: 'UINTEGER',
  UInt64: 'UBIGINT',
  // Not UHUGEINT: with any signed number DuckDB 1.5 computes and compares it as a DOUBLE, and `[5::UHUGEINT, 1::TINYINT]` is a SMALLINT[].
  UInt128: 'HUGEINT',
  UInt256: 'HUGEINT',
  Int8: 'TINYINT',
  Int16: 'SMALLINT',
  Int32: 'INTEGER',
  Int64: 'BIGINT',
  Int128: 'HUGEINT',
  Int256: 'HUGEINT',
  // A FLOAT would be summed and compared as FLOAT, and an integer next to it would become one.
  Float32: 'DOUBLE',
  Float64: 'DOUBLE',
  Decimal: 'DECIMAL',
  String: 'VARCHAR',
  UUID: 'UUID',
  IPv4: 'VARCHAR',
  IPv6: 'VARCHAR',
  Date: 'DATE',
  DateTime: 'TIMESTAMP',
  DateTime64: 'TIMESTAMP',
  Interval: 'INTERVAL',
  JSON: 'VARCHAR',
  Property: 'VARCHAR',
  Dynamic: 'VARCHAR',
}

const mostDigits = 38
const wholeDecimal = [mostDigits, 10] as const

/** The type to cast a list's sum to: DuckDB sums integers as HUGEINT. */
export const sumOnDuckdb = (type: SqlType): string => {
  const bits = isInteger(type) ? Number(/^\D*(\d+)$/.exec((type as ScalarType).name)?.[1] ?? 8) : null
  return bits !== null && bits <= 64 ? 'BIGINT' : duckdbType(type)
}

/** The type name to write after AS in a cast. */
export function duckdbType(type: SqlType): string {
  switch (type.kind) {
    case 'scalar': {
      if (type.name !== 'Decimal') return scalars[type.name]
      const [digits = mostDigits, scale = 0] = type.parameters ?? wholeDecimal
      return `DECIMAL(${Math.min(mostDigits, digits)}, ${scale})`
    }
    case 'array':
      return `${duckdbType(type.item)}[]`
    case 'map':
      return `MAP(${duckdbType(type.key)}, ${duckdbType(type.value)})`
    // The same names everywhere: structs with different names merge by name, and one without names, as row(…) makes it, combines with any.
    case 'tuple':
      return `STRUCT(${type.items.map((item, i) => `"v${i + 1}" ${duckdbType(item)}`).join(', ')})`
    default:
      return 'VARCHAR'
  }
}
