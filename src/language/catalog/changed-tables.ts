/** How a value is passed: times are microseconds. */
export type ColumnKind = 'text' | 'uuid' | 'time' | 'integer' | 'bigint' | 'boolean'

/** Tables that a group of changes writes to: columns, and the keys that identify an existing row. Rows of a table without keys are always new. */
export const changedTables = {
  persons: {
    keys: ['person_no'],
    columns: {
      person_no: 'integer',
      uuid: 'uuid',
      has_record: 'boolean',
      created_at: 'time',
      is_identified: 'boolean',
      version: 'bigint',
      updated_at: 'time',
      properties: 'text',
      property_times: 'text',
      imported_at: 'time',
      changed_seq: 'bigint',
    },
  },
  person_versions: { keys: [], columns: { person_no: 'integer', log_seq: 'bigint', properties: 'text' } },
  import_families: { keys: [], columns: { family: 'integer', state: 'text' } },
  import_members: { keys: [], columns: { person_no: 'integer', family: 'integer' } },
  distinct_ids: { keys: [], columns: { distinct_id: 'text', person_no: 'integer', added_seq: 'bigint' } },
  person_merges: { keys: [], columns: { merged: 'integer', survivor: 'integer' } },
  merge_journal: {
    keys: [],
    columns: {
      seq: 'bigint',
      merged_at: 'time',
      merged: 'integer',
      merged_uuid: 'uuid',
      survivor: 'integer',
      survivor_uuid: 'uuid',
      event_uuid: 'uuid',
      event: 'text',
    },
  },
  groups: {
    keys: ['group_type_index', 'group_key'],
    columns: {
      group_type_index: 'integer',
      group_key: 'text',
      created_at: 'time',
      updated_at: 'time',
      version: 'bigint',
      properties: 'text',
      property_times: 'text',
    },
  },
  group_types: { keys: [], columns: { group_type_index: 'integer', group_type: 'text' } },
  cookieless_visits: { keys: ['key'], columns: { key: 'text', day: 'integer', state: 'text' } },
  event_names: {
    keys: ['event_id'],
    columns: { event_id: 'integer', name: 'text', first_seen: 'time', last_seen: 'time', count: 'bigint' },
  },
  property_keys: {
    keys: ['scope', 'name'],
    columns: {
      scope: 'text',
      name: 'text',
      property_type: 'text',
      slots: 'text',
      ready_slots: 'text',
      count_numeric: 'bigint',
      count_string: 'bigint',
      count_boolean: 'bigint',
      count_datetime: 'bigint',
      count_other: 'bigint',
      count_numeric_string: 'bigint',
      first_seen: 'time',
      last_seen: 'time',
    },
  },
  warnings: { keys: ['kind'], columns: { kind: 'text', count: 'bigint', samples: 'text', last_seen: 'time' } },
  actions: { keys: ['id'], columns: { id: 'integer', definition: 'text' } },
  cohorts: { keys: ['id'], columns: { id: 'integer', definition: 'text' } },
  cohort_members: { keys: [], columns: { cohort_id: 'integer', person_no: 'integer' } },
} as const satisfies Record<string, { keys: readonly string[]; columns: Readonly<Record<string, ColumnKind>> }>

export type ChangedTable = keyof typeof changedTables
export type ChangedValue = string | number | bigint | boolean | null
export type ChangedRow<T extends ChangedTable> = { readonly [C in keyof (typeof changedTables)[T]['columns']]: ChangedValue }
