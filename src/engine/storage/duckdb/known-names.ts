import type { DuckDBConnection } from '@duckdb/node-api'
import type { KnownEvent, KnownProperty, NamesAsked, NamesFound } from '../../../language/catalog/known-names.ts'
import { duckdb } from '../../../language/dialects/duckdb/dialect.ts'
import { type NamesEngine, type NamesTable, namesStatements } from '../names-statement.ts'
import { identifier } from './instance.ts'

const dateOf = (micros: unknown): Date | null => (micros === null ? null : new Date(Number(micros) / 1000))
const rows = async (connection: DuckDBConnection, sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()

const names: NamesEngine = {
  literal: duckdb.literal,
  contains: (text, part) => `contains(lower(${text}), lower(${part}))`,
  startsWith: (text, part) => `starts_with(${text}, ${part})`,
  from: (text, skipped) => `substring(${text}, ${skipped + 1})`,
  sha1: (bytes, text) => `sha1(unhex('${bytes}') || encode(${text}))`,
  values: (values) => `(SELECT * FROM (VALUES ${values.join(', ')}) AS listed(key, least))`,
  micros: (column) => `coalesce(epoch_us(${column}), 0)`,
}

type Row = readonly unknown[]

const eventOf = ([name, count, first, last]: Row): KnownEvent => ({
  name: String(name),
  count: Number(count),
  first_seen: dateOf(first),
  last_seen: dateOf(last),
})
/** A name whose events were all taken back keeps its number, and comes back with its next event. */
const eventsIn = (database: string): NamesTable => ({
  from: `(SELECT * FROM ${identifier(database)}.main.event_names WHERE count > 0)`,
  columns: 'name, count, epoch_us(first_seen), epoch_us(last_seen)',
  count: 'count',
  hasScopes: false,
})

const propertyOf = ([scope, name, type, numeric, numericText, text, boolean, time, other, first, last]: Row): KnownProperty => ({
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
})
const propertiesIn = (database: string): NamesTable => ({
  from: `${identifier(database)}.main.property_keys`,
  columns:
    'scope, name, property_type, count_numeric, count_numeric_string, count_string, count_boolean, count_datetime, count_other, ' +
    'epoch_us(first_seen), epoch_us(last_seen)',
  count: '(count_numeric + count_numeric_string + count_string + count_boolean + count_datetime + count_other)',
  hasScopes: true,
})

const everything = ({ from, columns, count, hasScopes }: NamesTable) =>
  `SELECT ${columns} FROM ${from} ORDER BY ${count} DESC, ${hasScopes ? 'scope, ' : ''}name`

async function pageOf<T>(
  connection: DuckDBConnection,
  asked: NamesAsked,
  table: NamesTable,
  read: (row: Row) => T,
): Promise<NamesFound<T>> {
  const statements = namesStatements(asked, table, names)
  const page = (await rows(connection, statements.page)).map(read)
  if (asked.offset === 0 && page.length < asked.limit) return { count: page.length, page }
  return { count: Number((await rows(connection, statements.count))[0]![0]), page }
}

export const readEvents = async (connection: DuckDBConnection, database: string): Promise<KnownEvent[]> =>
  (await rows(connection, everything(eventsIn(database)))).map(eventOf)

export const readProperties = async (connection: DuckDBConnection, database: string): Promise<KnownProperty[]> =>
  (await rows(connection, everything(propertiesIn(database)))).map(propertyOf)

export const findEvents = (connection: DuckDBConnection, database: string, asked: NamesAsked): Promise<NamesFound<KnownEvent>> =>
  pageOf(connection, asked, eventsIn(database), eventOf)

export const findProperties = (connection: DuckDBConnection, database: string, asked: NamesAsked): Promise<NamesFound<KnownProperty>> =>
  pageOf(connection, asked, propertiesIn(database), propertyOf)
