import type { FileFormat } from '../../../../src/engine/storage/format.ts'

// store.duckdb as the first format made it: a copy of its tables, which never changes.

const slots = [
  ...Array.from({ length: 32 }, (_, i) => `s${i + 1} VARCHAR`),
  ...Array.from({ length: 16 }, (_, i) => `n${i + 1} DOUBLE`),
  ...Array.from({ length: 8 }, (_, i) => `b${i + 1} BOOLEAN`),
  ...Array.from({ length: 8 }, (_, i) => `t${i + 1} TIMESTAMP`),
].join(', ')

const tables = [
  'meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)',
  'event_names (event_id INTEGER NOT NULL, name VARCHAR NOT NULL, first_seen TIMESTAMP, last_seen TIMESTAMP, count BIGINT NOT NULL)',
  `events (uuid UUID NOT NULL, event_id INTEGER NOT NULL, timestamp TIMESTAMP NOT NULL, person_no INTEGER NOT NULL, distinct_id VARCHAR NOT NULL,
    session_id VARCHAR NOT NULL DEFAULT '', window_id VARCHAR NOT NULL DEFAULT '', group_0 VARCHAR NOT NULL DEFAULT '',
    group_1 VARCHAR NOT NULL DEFAULT '', group_2 VARCHAR NOT NULL DEFAULT '', group_3 VARCHAR NOT NULL DEFAULT '',
    group_4 VARCHAR NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, log_seq BIGINT NOT NULL, person_mode UTINYINT NOT NULL,
    elements_chain VARCHAR NOT NULL DEFAULT '', properties VARCHAR NOT NULL, ${slots})`,
  `persons (person_no INTEGER NOT NULL, uuid UUID NOT NULL, has_record BOOLEAN NOT NULL, created_at TIMESTAMP NOT NULL,
    is_identified BOOLEAN NOT NULL, version BIGINT NOT NULL, updated_at TIMESTAMP NOT NULL, properties VARCHAR NOT NULL,
    property_times VARCHAR NOT NULL DEFAULT '', imported_at TIMESTAMP, ${slots})`,
  'person_versions (person_no INTEGER NOT NULL, log_seq BIGINT NOT NULL, properties VARCHAR NOT NULL)',
  'import_families (family INTEGER NOT NULL, state VARCHAR NOT NULL)',
  'import_members (person_no INTEGER NOT NULL, family INTEGER NOT NULL)',
  'distinct_ids (distinct_id VARCHAR NOT NULL, person_no INTEGER NOT NULL, added_seq BIGINT NOT NULL)',
  'person_merges (merged INTEGER NOT NULL, survivor INTEGER NOT NULL)',
  `merge_journal (seq BIGINT NOT NULL, merged_at TIMESTAMP NOT NULL, merged INTEGER NOT NULL, merged_uuid UUID NOT NULL, survivor INTEGER NOT NULL,
    survivor_uuid UUID NOT NULL, event_uuid UUID, event VARCHAR)`,
  'group_types (group_type_index UTINYINT NOT NULL, group_type VARCHAR NOT NULL)',
  `groups (group_type_index UTINYINT NOT NULL, group_key VARCHAR NOT NULL, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL, properties VARCHAR NOT NULL, property_times VARCHAR NOT NULL DEFAULT '')`,
  `property_keys (scope VARCHAR NOT NULL, name VARCHAR NOT NULL, property_type VARCHAR, is_defined BOOLEAN NOT NULL, slot VARCHAR,
    slot_ready BOOLEAN NOT NULL, count_numeric BIGINT NOT NULL, count_string BIGINT NOT NULL, count_boolean BIGINT NOT NULL,
    count_datetime BIGINT NOT NULL, count_other BIGINT NOT NULL, first_seen TIMESTAMP, last_seen TIMESTAMP)`,
  'actions (id INTEGER NOT NULL, definition VARCHAR NOT NULL)',
  'cohorts (id INTEGER NOT NULL, definition VARCHAR NOT NULL)',
  'cohort_members (cohort_id INTEGER NOT NULL, person_no INTEGER NOT NULL)',
  'warnings (kind VARCHAR NOT NULL, count BIGINT NOT NULL, samples VARCHAR NOT NULL, last_seen TIMESTAMP NOT NULL)',
]

export const format1: FileFormat = {
  version: 1,
  create: (database) => [
    ...tables.map((table) => `CREATE TABLE "${database}".main.${table}`),
    `INSERT INTO "${database}".main.meta VALUES ('format', '1'), ('applied_seq', '0')`,
  ],
  migrations: [],
}
