import { type ChangedTable, type ColumnKind, changedTables } from '../../catalog/changed-tables.ts'

// The tables of all projects on a ClickHouse server. They hold what the store of one project holds, less the parts that only serve one file:
// event names are text here, and properties have no columns of their own.

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

/** By which columns a row is known: the latest of equal ones counts. */
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

/** A table whose rows change: the row with the highest version counts, and is gone when it is marked as deleted. */
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

/** In the order in which the writer hands them over. */
export const eventColumns: readonly string[] = [
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
  meta: changing(['key String', 'value String'], ['key']),
  /** What a group changes, from before its commit until all of it is done. A partition is dropped at once. */
  journal: {
    columns: ['project_id UInt32', 'group_no UInt64', 'step UInt32', 'query String', 'rows String'],
    engine: 'MergeTree PARTITION BY project_id ORDER BY (project_id, group_no, step)',
  },
}

export const createClickHouseTables: readonly string[] = Object.entries(clickHouseTables).map(
  ([name, { columns, engine }]) => `CREATE TABLE IF NOT EXISTS ${name} (${columns.join(', ')}) ENGINE = ${engine}`,
)

export const columnName = (column: string): string => column.slice(0, column.indexOf(' '))

/** Settings under which the language's statements mean what they say. */
export const clickHouseSettings = {
  /** Of rows that change the latest counts. */
  final: 1,
  /** Outer joins fill with nulls, as everywhere else. */
  join_use_nulls: 1,
  /** Null is found among nulls. */
  transform_null_in: 1,
  /** Keys that ROLLUP and CUBE leave out are null. */
  group_by_use_nulls: 1,
  /** Reads only, and no statement can change a setting. */
  readonly: '2',
} as const
