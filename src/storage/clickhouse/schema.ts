// The tables of all projects on a ClickHouse server. They hold what the store of one project holds, less the parts that only serve one file:
// event names are text here, and properties have no typed columns.

const time = "DateTime64(6, 'UTC')"

interface ClickHouseTable {
  readonly columns: readonly string[]
  readonly orderBy: string
}

export const clickHouseTables: Readonly<Record<string, ClickHouseTable>> = {
  events: {
    columns: [
      'project_id UInt32',
      'uuid UUID',
      'event LowCardinality(String)',
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
    ],
    orderBy: '(project_id, toDate(timestamp), event, log_seq)',
  },
  persons: {
    columns: [
      'project_id UInt32',
      'person_no Int32',
      'uuid UUID',
      'has_record Bool',
      `created_at ${time}`,
      'is_identified Bool',
      'version Int64',
      'properties String',
    ],
    orderBy: '(project_id, person_no)',
  },
  distinct_ids: { columns: ['project_id UInt32', 'distinct_id String', 'person_no Int32'], orderBy: '(project_id, distinct_id)' },
  person_merges: { columns: ['project_id UInt32', 'merged Int32', 'survivor Int32'], orderBy: '(project_id, merged)' },
  groups: {
    columns: [
      'project_id UInt32',
      'group_type_index UInt8',
      'group_key String',
      `created_at ${time}`,
      `updated_at ${time}`,
      'version Int64',
      'properties String',
    ],
    orderBy: '(project_id, group_type_index, group_key)',
  },
  cohort_members: { columns: ['project_id UInt32', 'cohort_id Int32', 'person_no Int32'], orderBy: '(project_id, cohort_id, person_no)' },
}

export const createClickHouseTables: readonly string[] = Object.entries(clickHouseTables).map(
  ([name, { columns, orderBy }]) => `CREATE TABLE IF NOT EXISTS ${name} (${columns.join(', ')}) ENGINE = MergeTree ORDER BY ${orderBy}`,
)

/** Settings under which the language's statements mean what they say. */
export const clickHouseSettings = {
  /** Outer joins fill with nulls, as everywhere else. */
  join_use_nulls: 1,
  /** Null is found among nulls. */
  transform_null_in: 1,
  /** Keys that ROLLUP and CUBE leave out are null. */
  group_by_use_nulls: 1,
  /** Reads only, and no statement can change a setting. */
  readonly: '2',
} as const
