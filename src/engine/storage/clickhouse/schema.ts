import { type ChangedTable, type ColumnKind, changedTables } from '../../../language/catalog/changed-tables.ts'
import { eventsTable, type Layout, onCluster, oneServer, shardTable } from './layout.ts'
import { literal } from './sql.ts'

// The tables of all projects on a ClickHouse server. They correspond to the tables of a project's DuckDB store, without the parts that only serve a file:
// event names are text here, and slots are columns that the server computes (property-columns.ts).

interface ClickHouseTable {
  readonly columns: readonly string[]
  readonly engine: string
}

const time = "DateTime64(6, 'UTC')"
const types: Readonly<Record<ColumnKind, string>> = {
  text: 'String',
  uuid: 'UUID',
  time,
  integer: 'Int32',
  bigint: 'Int64',
  boolean: 'Bool',
}

/** The columns that identify a row: the latest of equal rows counts. */
const keys: Readonly<Record<ChangedTable, readonly string[]>> = {
  persons: ['person_no'],
  person_versions: ['person_no', 'log_seq'],
  import_families: ['family'],
  import_members: ['family', 'person_no'],
  distinct_ids: ['distinct_id'],
  person_merges: ['merged'],
  merge_journal: ['seq', 'merged', 'survivor'],
  groups: ['group_type_index', 'group_key'],
  group_types: ['group_type_index'],
  cookieless_visits: ['key'],
  event_names: ['event_id'],
  property_keys: ['scope', 'name'],
  warnings: ['kind'],
  actions: ['id'],
  cohorts: ['id'],
  cohort_members: ['cohort_id', 'person_no'],
}

const nullableColumns: ReadonlySet<string> = new Set([
  'persons.imported_at',
  'merge_journal.event_uuid',
  'merge_journal.event',
  'property_keys.property_type',
])

/** A table whose rows change: the row with the highest version counts, unless it is marked as deleted. */
const changing = (columns: readonly string[], key: readonly string[]): ClickHouseTable => ({
  columns: ['project_id UInt32', ...columns, 'row_version UInt64', 'row_deleted UInt8'],
  engine: `ReplacingMergeTree(row_version, row_deleted) ORDER BY (${['project_id', ...key].join(', ')})`,
})

const stateTable = (table: ChangedTable): ClickHouseTable => {
  const columns = Object.entries<ColumnKind>(changedTables[table].columns).map(([name, kind]) => {
    const type = types[kind]
    return `${name} ${nullableColumns.has(`${table}.${name}`) ? `Nullable(${type})` : type}`
  })
  return changing(columns, keys[table])
}

/** In the order in which the writer sends them. */
const eventColumns: readonly string[] = [
  'event LowCardinality(String)',
  'uuid UUID',
  `timestamp ${time}`,
  'person_no Int32',
  'distinct_id String',
  'session_id String',
  'window_id String',
  'group_0 String',
  'group_1 String',
  'group_2 String',
  'group_3 String',
  'group_4 String',
  `created_at ${time}`,
  'log_seq Int64',
  'person_mode UInt8',
  'elements_chain String',
  'properties String',
]

export const clickHouseTables: Readonly<Record<string, ClickHouseTable>> = {
  events: {
    columns: ['project_id UInt32', ...eventColumns, 'INDEX by_log_seq log_seq TYPE minmax'],
    engine: 'MergeTree ORDER BY (project_id, toDate(timestamp), event, log_seq)',
  },
  ...Object.fromEntries((Object.keys(keys) as ChangedTable[]).map((table) => [table, stateTable(table)])),
  /** The same ones are not stored again. */
  removed_events: {
    columns: ['project_id UInt32', 'uuid UUID', 'log_seq Int64'],
    engine: 'MergeTree ORDER BY (project_id, log_seq)',
  },
  /** When the latest event of a number was that the project does not keep any more: the last one of its rows. */
  last_events: {
    columns: ['project_id UInt32', 'person_no Int32', `last_at ${time}`],
    engine: 'MergeTree ORDER BY (project_id, person_no)',
  },
  meta: changing(['key String', 'value String'], ['key']),
  /** The changes of a group, from before its commit until all are executed. A partition is dropped at once. */
  journal: {
    columns: ['project_id UInt32', 'group_no UInt64', 'step UInt32', 'query String', 'rows String'],
    engine: 'MergeTree PARTITION BY project_id ORDER BY (project_id, group_no, step)',
  },
}

/** Columns that older tables lack. */
const addedColumns: readonly string[] = ['ALTER TABLE persons ADD COLUMN IF NOT EXISTS changed_seq Int64 AFTER imported_at']

/** Inserts of so many blocks are known again by their tokens. At ten blocks a second, that is a pause of more than two hours. */
export const knownBlocks = 100_000

/** Replicated tables also forget by age. */
const knownSeconds = 7 * 86_400

/** Where several processes write: the same rows are not stored twice. */
export const knowInsertsAgain = (blocks: number = knownBlocks, layout: Layout = oneServer): string => {
  const settings =
    layout.cluster === null
      ? `non_replicated_deduplication_window = ${blocks}`
      : `replicated_deduplication_window = ${blocks}, replicated_deduplication_window_seconds = ${knownSeconds}`
  return `ALTER TABLE ${eventsTable(layout)}${onCluster(layout.cluster)} MODIFY SETTING ${settings}`
}

/**
 * The engine of a replicated table. Without shards its place in Keeper and the name of the replica come from the servers' configuration. With shards the place is
 * one for all servers, or one for those of a shard.
 */
const replicated = (engine: string, { isSharded }: Layout, isOfShard: boolean): string => {
  if (!isSharded) return `Replicated${engine}`
  const place = "'/clickhouse/waymark/{database}/{table}/"
  const own = isOfShard ? [`${place}{shard}'`, "'{replica}'"] : [`${place}all'`, "'{shard}-{replica}'"]
  return engine.replace(
    /^(\w+)(?:\(([^)]*)\))?/,
    (_, name: string, given?: string) => `Replicated${name}(${[...own, ...(given === undefined ? [] : [given])].join(', ')})`,
  )
}

/** `database`: which the tables are in, for events in shards. */
export function createClickHouseTables(layout: Layout = oneServer, database = ''): readonly string[] {
  const { cluster, isSharded } = layout
  const create = 'CREATE TABLE IF NOT EXISTS'
  const tables = Object.entries(clickHouseTables).map(([table, { columns, engine }]) => {
    const isOfShard = isSharded && table === 'events'
    const own = cluster === null ? engine : replicated(engine, layout, isOfShard)
    return `${create} ${isOfShard ? shardTable : table}${onCluster(cluster)} (${columns.join(', ')}) ENGINE = ${own}`
  })
  const stored = clickHouseTables.events!.columns.filter((column) => !column.startsWith('INDEX '))
  const over = [cluster ?? '', database, shardTable].map(literal).join(', ')
  const reader = `${create} events${onCluster(cluster)} (${stored.join(', ')}) ENGINE = Distributed(${over}, person_no)`
  return [...tables, ...(isSharded ? [reader] : []), ...addedColumns] // replicated tables pass a new column on by themselves
}

export const columnName = (column: string): string => column.slice(0, column.indexOf(' '))

/** Settings that the language requires. */
export const clickHouseSettings = {
  /** For rows that change, the latest counts. */
  final: 1,
  /** Outer joins fill with nulls, as in SQL. */
  join_use_nulls: 1,
  /** Null matches null in sets. */
  transform_null_in: 1,
  /** Missing keys of ROLLUP and CUBE are null. */
  group_by_use_nulls: 1,
  /** Read-only, and statements cannot change settings. */
  readonly: '2',
} as const

/** Whole rows of events, as JSON arrays. */
export const insertedEvents = `INSERT INTO events (${['project_id', ...eventColumns.map(columnName)].join(', ')}) FORMAT JSONCompactEachRow`
