import type { AttachedColumn, AttachedTable } from '../../catalog/attached.ts'
import { attachedDocument, attachedKey } from '../../plan/attached-properties.ts'
import type { AttachedSource } from '../../resolver/typed.ts'
import { type SqlType, scalar } from '../../types/types.ts'

// Files beside the events, as DuckDB reads them.

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

const whole: Readonly<Record<string, SqlType>> = {
  BOOLEAN: scalar('Bool', true),
  ...Object.fromEntries(
    ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER'].map((name) => [name, scalar('Int64', true)]),
  ),
  UBIGINT: scalar('UInt64', true),
  HUGEINT: scalar('Int128', true),
  UHUGEINT: scalar('Float64', true),
  FLOAT: scalar('Float64', true),
  DOUBLE: scalar('Float64', true),
  UUID: scalar('UUID', true),
  DATE: scalar('Date', true),
}

/** The type in the language of a column that DuckDB has found in a file. What the language does not know is JSON, as text. */
export function typeOfStored(stored: string): SqlType {
  const decimal = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(stored)
  if (decimal) return { kind: 'scalar', name: 'Decimal', nullable: true, parameters: [Number(decimal[1]), Number(decimal[2])] }
  if (stored.startsWith('TIMESTAMP')) return { kind: 'scalar', name: 'DateTime64', nullable: true, parameters: [6] }
  return whole[stored] ?? scalar('String', true)
}

const integers = new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'UTINYINT', 'USMALLINT', 'UINTEGER'])

function read({ name, stored }: AttachedColumn): string {
  const column = identifier(name)
  if (integers.has(stored)) return `CAST(${column} AS BIGINT)`
  if (stored === 'FLOAT' || stored === 'UHUGEINT') return `CAST(${column} AS DOUBLE)`
  if (stored === 'TIMESTAMP WITH TIME ZONE') return `make_timestamp(epoch_us(${column}))`
  if (stored.startsWith('TIMESTAMP')) return `CAST(${column} AS TIMESTAMP)`
  if (whole[stored] || stored === 'VARCHAR' || stored.startsWith('DECIMAL(')) return column
  if (stored.startsWith('ENUM(') || stored === 'JSON') return `CAST(${column} AS VARCHAR)`
  return `CAST(to_json(${column}) AS VARCHAR)`
}

/** The call that reads the files. Columns of text files have the types that they were found to have. */
export function filesOf({ format, files, columns }: Pick<AttachedTable, 'format' | 'files' | 'columns'>): string {
  const paths = `[${files.map(literal).join(', ')}]`
  if (format === 'parquet') return `read_parquet(${paths})`
  const types = `{${columns.map(({ name, stored }) => `${identifier(name)}: ${literal(stored)}`).join(', ')}}`
  if (format === 'json') return `read_json(${paths}, format = 'newline_delimited', columns = ${types})`
  return `read_csv(${paths}, header = true, types = ${types})`
}

/** Times as texts of the form that properties have. */
const asJson = (column: AttachedColumn): string => {
  const value = read(column)
  return column.stored.startsWith('TIMESTAMP') ? `strftime(${value}, '%Y-%m-%dT%H:%M:%S.%fZ')` : value
}

export function attachedRows({ table, lookup }: AttachedSource): string {
  if (!lookup)
    return `SELECT ${table.columns.map((column) => `${read(column)} AS ${identifier(column.name)}`).join(', ')} FROM ${filesOf(table)}`
  const columns = table.columns.filter(({ name }) => lookup.columns.includes(name))
  const document = `json_object(${columns.map((column) => `${literal(column.name)}, ${asJson(column)}`).join(', ')})`
  const key = `CAST(${identifier(lookup.key)} AS VARCHAR)`
  // The keys were unique when the file was looked at; a file that has changed since must not multiply events.
  return (
    `SELECT ${key} AS ${identifier(attachedKey)}, first(${document}) AS ${identifier(attachedDocument)} FROM ${filesOf(table)} ` +
    `WHERE ${key} <> '' GROUP BY 1`
  )
}
