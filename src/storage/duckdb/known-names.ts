import type { DuckDBConnection } from '@duckdb/node-api'
import type { KnownEvent, KnownProperty } from '../../catalog/known-names.ts'
import { identifier } from './instance.ts'

const dateOf = (micros: unknown): Date | null => (micros === null ? null : new Date(Number(micros) / 1000))
const rows = async (connection: DuckDBConnection, sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()

export async function readEvents(connection: DuckDBConnection, database: string): Promise<KnownEvent[]> {
  const found = await rows(
    connection,
    `SELECT name, count, epoch_us(first_seen), epoch_us(last_seen) FROM ${identifier(database)}.main.event_names ORDER BY count DESC, name`,
  )
  return found.map(([name, count, first, last]) => ({
    name: String(name),
    count: Number(count),
    first_seen: dateOf(first),
    last_seen: dateOf(last),
  }))
}

export async function readProperties(connection: DuckDBConnection, database: string): Promise<KnownProperty[]> {
  const found = await rows(
    connection,
    `SELECT scope, name, property_type, count_numeric, count_numeric_string, count_string, count_boolean, count_datetime, count_other,
      epoch_us(first_seen), epoch_us(last_seen)
    FROM ${identifier(database)}.main.property_keys
    ORDER BY count_numeric + count_numeric_string + count_string + count_boolean + count_datetime + count_other DESC, scope, name`,
  )
  return found.map(([scope, name, type, numeric, numericText, text, boolean, time, other, first, last]) => ({
    scope: String(scope),
    name: String(name),
    property_type: type as KnownProperty['property_type'],
    counts: {
      numeric: Number(numeric),
      numeric_text: Number(numericText),
      text: Number(text),
      boolean: Number(boolean),
      time: Number(time),
      other: Number(other),
    },
    first_seen: dateOf(first),
    last_seen: dateOf(last),
  }))
}
