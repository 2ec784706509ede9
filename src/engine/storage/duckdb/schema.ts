import { type SlotKind, slotNames } from '../../../language/catalog/slots.ts'

// The tables of one project's store.duckdb. No keys and no indexes: an index costs memory per row, and DuckDB's replay of the write-ahead log has
// problems with them. Only the apply stage writes here, and keeps unique what must be unique.

/**
 * Rows of a row group, for new files and for rows appended to older ones. A transaction that fills one is written to the file directly,
 * not through the write-ahead log. Half of DuckDB's default takes half as much memory meanwhile.
 */
export const rowGroupRows = 61_440

/** How a table is written: what newer files have is read by every DuckDB from 1.2 on. */
export const fileOptions = `ROW_GROUP_SIZE ${rowGroupRows}, STORAGE_VERSION 'v1.2.0'`

/** JSON of events repeats itself from row to row: it takes a quarter of the space that DuckDB's own choice needs, and half of the time. */
const compressed = 'USING COMPRESSION zstd'

/** Increase it with each change below, and add the step to `migrations.ts`. */
export const storeFormat = 8

const slotTypes: Readonly<Record<SlotKind, string>> = { text: 'VARCHAR', number: 'DOUBLE', boolean: 'BOOLEAN' }
const slotColumns = (Object.keys(slotTypes) as SlotKind[]).flatMap((kind) => slotNames(kind).map((name) => `${name} ${slotTypes[kind]}`))

/** All times are UTC with microseconds. */
export const storeTables: Readonly<Record<string, readonly string[]>> = {
  meta: ['key VARCHAR NOT NULL', 'value VARCHAR NOT NULL'],
  event_names: [
    'event_id INTEGER NOT NULL',
    'name VARCHAR NOT NULL',
    'first_seen TIMESTAMP',
    'last_seen TIMESTAMP',
    'count BIGINT NOT NULL',
  ],
  events: [
    'uuid UUID NOT NULL',
    'event_id INTEGER NOT NULL',
    'timestamp TIMESTAMP NOT NULL',
    'person_no INTEGER NOT NULL', // as it was when the event came: read it through person_merges
    'distinct_id VARCHAR NOT NULL',
    "session_id VARCHAR NOT NULL DEFAULT ''",
    "window_id VARCHAR NOT NULL DEFAULT ''",
    "group_0 VARCHAR NOT NULL DEFAULT ''",
    "group_1 VARCHAR NOT NULL DEFAULT ''",
    "group_2 VARCHAR NOT NULL DEFAULT ''",
    "group_3 VARCHAR NOT NULL DEFAULT ''",
    "group_4 VARCHAR NOT NULL DEFAULT ''",
    'created_at TIMESTAMP NOT NULL', // arrival
    'log_seq BIGINT NOT NULL', // position in the log: order of arrival, without gaps
    'person_mode UTINYINT NOT NULL', // 0 full, 1 propertyless, 2 force_upgrade
    "elements_chain VARCHAR NOT NULL DEFAULT ''",
    `properties VARCHAR NOT NULL ${compressed}`, // JSON text as it was sent, after normalisation
    ...slotColumns,
  ],
  // Events that were removed: the same ones are not stored again.
  removed_events: ['uuid UUID NOT NULL', 'log_seq BIGINT NOT NULL'],
  // When the latest event of a number was that the project does not keep any more: one row per number that has such events.
  last_events: ['person_no INTEGER NOT NULL', 'last_at TIMESTAMP NOT NULL'],
  // One row per number. A person-less distinct id has a row too (has_record false): its uuid is the one a person would get later.
  persons: [
    'person_no INTEGER NOT NULL',
    'uuid UUID NOT NULL',
    'has_record BOOLEAN NOT NULL',
    'created_at TIMESTAMP NOT NULL',
    'is_identified BOOLEAN NOT NULL',
    'version BIGINT NOT NULL',
    'updated_at TIMESTAMP NOT NULL',
    'properties VARCHAR NOT NULL',
    // Per property key the event time of the winning value, for imports in any order. JSON grouped by time, '' if not needed.
    "property_times VARCHAR NOT NULL DEFAULT ''",
    'imported_at TIMESTAMP', // when importPersons last said what the person is; null when it never did
    ...slotColumns,
    'changed_seq BIGINT DEFAULT 0', // position of the record that last changed the row; 0: before this column existed
    'size BIGINT DEFAULT 0', // bytes of its texts
  ],
  // The history of a person's properties: one row for each change, from a log position on. A merge never changes `person_no` here.
  person_versions: ['person_no INTEGER NOT NULL', 'log_seq BIGINT NOT NULL', `properties VARCHAR NOT NULL ${compressed}`],
  // Persons that imports have merged: `state` (JSON) holds what is known under each number, and the merge events between them.
  import_families: ['family INTEGER NOT NULL', 'state VARCHAR NOT NULL'],
  import_members: ['person_no INTEGER NOT NULL', 'family INTEGER NOT NULL'],
  distinct_ids: ['distinct_id VARCHAR NOT NULL', 'person_no INTEGER NOT NULL', 'added_seq BIGINT NOT NULL'],
  // Flat: `survivor` is never itself a `merged`. One hop is enough.
  person_merges: ['merged INTEGER NOT NULL', 'survivor INTEGER NOT NULL'],
  // The journal: every merge that happened, in order.
  merge_journal: [
    'seq BIGINT NOT NULL',
    'merged_at TIMESTAMP NOT NULL',
    'merged INTEGER NOT NULL',
    'merged_uuid UUID NOT NULL',
    'survivor INTEGER NOT NULL',
    'survivor_uuid UUID NOT NULL',
    'event_uuid UUID',
    'event VARCHAR',
  ],
  group_types: ['group_type_index UTINYINT NOT NULL', 'group_type VARCHAR NOT NULL'],
  groups: [
    'group_type_index UTINYINT NOT NULL',
    'group_key VARCHAR NOT NULL',
    'created_at TIMESTAMP NOT NULL',
    'updated_at TIMESTAMP NOT NULL',
    'version BIGINT NOT NULL',
    'properties VARCHAR NOT NULL',
    "property_times VARCHAR NOT NULL DEFAULT ''",
    'size BIGINT DEFAULT 0', // bytes of its texts
  ],
  // What visitors without cookies have done today: `key` is a hash, `day` counts from 1970, `state` (JSON) has how often the visitor was identified, and
  // the session. Rows are removed after three days.
  cookieless_visits: ['key VARCHAR NOT NULL', 'day INTEGER NOT NULL', 'state VARCHAR NOT NULL'],
  // scope: event, person, group_0 … group_4. Slots are columns of that scope's table.
  property_keys: [
    'scope VARCHAR NOT NULL',
    'name VARCHAR NOT NULL',
    'property_type VARCHAR', // Numeric, String, Boolean, DateTime, as it was declared; null: what each value is
    'slots VARCHAR NOT NULL', // with spaces between them
    'ready_slots VARCHAR NOT NULL', // old rows are filled: queries may read them
    'count_numeric BIGINT NOT NULL',
    'count_string BIGINT NOT NULL',
    'count_boolean BIGINT NOT NULL',
    'count_datetime BIGINT NOT NULL',
    'count_other BIGINT NOT NULL', // lists and objects
    'count_numeric_string BIGINT NOT NULL', // texts that read as a number; count_string has the others
    'first_seen TIMESTAMP',
    'last_seen TIMESTAMP',
  ],
  actions: ['id INTEGER NOT NULL', 'definition VARCHAR NOT NULL'],
  cohorts: ['id INTEGER NOT NULL', 'definition VARCHAR NOT NULL'],
  cohort_members: ['cohort_id INTEGER NOT NULL', 'person_no INTEGER NOT NULL'],
  warnings: ['kind VARCHAR NOT NULL', 'count BIGINT NOT NULL', 'samples VARCHAR NOT NULL', 'last_seen TIMESTAMP NOT NULL'],
}

export const createTables = (database: string): readonly string[] =>
  Object.entries(storeTables).map(([name, columns]) => `CREATE TABLE "${database}".main.${name} (${columns.join(', ')})`)

/** The statements that make an empty store in the attached database `database`. */
export const createStore = (database: string): readonly string[] => [
  ...createTables(database),
  `INSERT INTO "${database}".main.meta VALUES ('format', '${storeFormat}'), ('applied_seq', '0'), ('definitions_bounded', '1')`,
]
