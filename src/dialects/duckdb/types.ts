import type { ScalarName, SqlType } from '../../types/types.ts'

const scalars: Readonly<Record<ScalarName, string>> = {
  Nothing: '"NULL"',
  Bool: 'BOOLEAN',
  UInt8: 'UTINYINT',
  UInt16: 'USMALLINT',
  UInt32: 'UINTEGER',
  UInt64: 'UBIGINT',
  UInt128: 'UHUGEINT',
  UInt256: 'UHUGEINT',
  Int8: 'TINYINT',
  Int16: 'SMALLINT',
  Int32: 'INTEGER',
  Int64: 'BIGINT',
  Int128: 'HUGEINT',
  Int256: 'HUGEINT',
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

/** The type's name in a cast. */
export function duckType(type: SqlType): string {
  switch (type.kind) {
    case 'scalar':
      return type.name === 'Decimal' ? `DECIMAL(${(type.parameters ?? [38, 10]).join(', ')})` : scalars[type.name]
    case 'array':
      return `${duckType(type.item)}[]`
    case 'map':
      return `MAP(${duckType(type.key)}, ${duckType(type.value)})`
    case 'tuple':
      return `STRUCT(${type.items.map((item, i) => `"v${i + 1}" ${duckType(item)}`).join(', ')})`
    default:
      return 'VARCHAR'
  }
}
