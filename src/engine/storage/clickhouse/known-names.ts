import type { KnownEvent, KnownProperty, NamesAsked, NamesFound } from '../../../language/catalog/known-names.ts'
import { type NamesEngine, type NamesTable, namesStatements } from '../names-statement.ts'
import type { ProjectStore } from './project-store.ts'
import { literal } from './sql.ts'

const dateOf = (micros: number): Date => new Date(micros / 1000)
const micros = (column: string) => `toUnixTimestamp64Micro(${column})`
const seen = `${micros('first_seen')}, ${micros('last_seen')}`

const names: NamesEngine = {
  literal,
  contains: (text, part) => `position(lowerUTF8(${text}), lowerUTF8(${part})) > 0`,
  startsWith: (text, part) => `startsWith(${text}, ${part})`,
  from: (text, skipped) => `substring(${text}, ${skipped + 1})`,
  sha1: (bytes, text) => `lower(hex(SHA1(concat(unhex('${bytes}'), ${text}))))`,
  values: (rows) => `(SELECT * FROM values('key String, least UInt64', ${rows.join(', ')}))`,
  micros,
}

type EventRow = [string, number, number, number]
const eventOf = ([name, count, first, last]: EventRow): KnownEvent => ({
  name,
  count,
  first_seen: dateOf(first),
  last_seen: dateOf(last),
})
/** A name whose events were all taken back keeps its number, and comes back with its next event. */
const eventsOf = (project: number): NamesTable => ({
  from: `event_names WHERE project_id = ${project} AND count > 0`,
  columns: `name, count, ${seen}`,
  count: 'count',
  hasScopes: false,
})

type PropertyRow = [string, string, KnownProperty['property_type'], number, number, number, number, number, number, number, number]
const propertyOf = ([
  scope,
  name,
  property_type,
  numeric,
  numeric_text,
  text,
  boolean,
  time,
  other,
  first,
  last,
]: PropertyRow): KnownProperty => ({
  scope,
  name,
  property_type,
  counts: { numeric, numeric_text, text, boolean, time, other },
  first_seen: dateOf(first),
  last_seen: dateOf(last),
})
const propertiesOf = (project: number): NamesTable => ({
  from: `property_keys WHERE project_id = ${project}`,
  columns: `scope, name, property_type, count_numeric, count_numeric_string, count_string, count_boolean, count_datetime, count_other, ${seen}`,
  count: '(count_numeric + count_numeric_string + count_string + count_boolean + count_datetime + count_other)',
  hasScopes: true,
})

const everything = ({ from, columns, count, hasScopes }: NamesTable) =>
  `SELECT ${columns} FROM ${from} ORDER BY ${count} DESC, ${hasScopes ? 'scope, ' : ''}name`

async function pageOf<R extends readonly unknown[], T>(
  { rows }: ProjectStore,
  asked: NamesAsked,
  table: NamesTable,
  read: (row: R) => T,
): Promise<NamesFound<T>> {
  const statements = namesStatements(asked, table, names)
  const page = (await rows<R>(statements.page)).map(read)
  if (asked.offset === 0 && page.length < asked.limit) return { count: page.length, page }
  const [[count] = [0]] = await rows<[number]>(statements.count)
  return { count, page }
}

export const readEvents = async ({ rows, project }: ProjectStore): Promise<KnownEvent[]> =>
  (await rows<EventRow>(everything(eventsOf(project)))).map(eventOf)

export const readProperties = async ({ rows, project }: ProjectStore): Promise<KnownProperty[]> =>
  (await rows<PropertyRow>(everything(propertiesOf(project)))).map(propertyOf)

export const findEvents = (store: ProjectStore, asked: NamesAsked): Promise<NamesFound<KnownEvent>> =>
  pageOf(store, asked, eventsOf(store.project), eventOf)

export const findProperties = (store: ProjectStore, asked: NamesAsked): Promise<NamesFound<KnownProperty>> =>
  pageOf(store, asked, propertiesOf(store.project), propertyOf)
