import { type ChangedTable, type ColumnKind, changedTables } from '../../../language/catalog/changed-tables.ts'
import { rowVersion } from '../clickhouse/project-store.ts'
import { insertedEvents } from '../clickhouse/schema.ts'

// The rows of a project's DuckDB store as the rows of the same tables in ClickHouse: statements for DuckDB that print one line of JSON for each row.

/** A table without the events. */
export interface MovedTable {
  readonly name: string
  /** The INSERT for its lines. */
  readonly insert: string
  /** One line per row. */
  readonly lines: string
}

/** The first change of the project there. */
export const firstChange = 1
const version = rowVersion(firstChange, 'put')

/** ClickHouse has times of these years only; what is outside becomes the first or the last one, as when it writes them itself. */
const timeText = (column: string) =>
  `strftime(greatest(least(${column}, TIMESTAMP '2299-12-31 23:59:59'), TIMESTAMP '1900-01-01'), '%Y-%m-%d %H:%M:%S.%f')`
const text = (column: string, kind: ColumnKind): string =>
  kind === 'time' ? timeText(column) : kind === 'uuid' ? `${column}::VARCHAR` : column

/** Columns that are written otherwise: properties have no slots there, and older rows lack some values. */
const otherwise: Readonly<Record<string, string>> = {
  'property_keys.slots': "''",
  'property_keys.ready_slots': "''",
  'property_keys.first_seen': timeText("coalesce(t.first_seen, TIMESTAMP '1970-01-01')"),
  'property_keys.last_seen': timeText("coalesce(t.last_seen, TIMESTAMP '1970-01-01')"),
  'event_names.first_seen': timeText("coalesce(t.first_seen, TIMESTAMP '1970-01-01')"),
  'event_names.last_seen': timeText("coalesce(t.last_seen, TIMESTAMP '1970-01-01')"),
  'persons.changed_seq': 'coalesce(t.changed_seq, 0)',
}

/** Which rows there are. Numbers of persons that were merged are those of the survivors. */
const fromOf: Readonly<Partial<Record<ChangedTable, (at: string) => string>>> = {
  persons: (at) => `FROM ${at}.persons AS t ANTI JOIN ${at}.person_merges AS m ON m.merged = t.person_no`,
  distinct_ids: (at) =>
    `FROM (SELECT d.distinct_id, coalesce(m.survivor, d.person_no) AS person_no, d.added_seq
       FROM ${at}.distinct_ids AS d LEFT JOIN ${at}.person_merges AS m ON m.merged = d.person_no) AS t`,
  cohort_members: (at) =>
    `FROM (SELECT DISTINCT c.cohort_id, coalesce(m.survivor, c.person_no) AS person_no
       FROM ${at}.cohort_members AS c LEFT JOIN ${at}.person_merges AS m ON m.merged = c.person_no) AS t`,
}

const insertInto = (table: string, columns: readonly string[]) =>
  `INSERT INTO ${table} (${['project_id', ...columns].join(', ')}) FORMAT JSONCompactEachRow`
const lineOf = (project: number, values: readonly string[]) => `json_array(${[String(project), ...values].join(', ')})::VARCHAR AS line`

/** What only the file needs, and what each store makes for itself. */
const ownMeta = ['format', 'format_before', 'definitions_bounded', 'changed_events_seq', 'store_id', 'retired_slots']

export function movedTables(project: number, at: string): readonly MovedTable[] {
  const tables = Object.entries(changedTables) as [ChangedTable, { readonly columns: Readonly<Record<string, ColumnKind>> }][]
  return [
    ...tables.map(([name, { columns }]): MovedTable => {
      const values = Object.entries(columns).map(([column, kind]) => otherwise[`${name}.${column}`] ?? text(`t.${column}`, kind))
      const rows = fromOf[name]?.(at) ?? `FROM ${at}.${name} AS t`
      return {
        name,
        insert: insertInto(name, [...Object.keys(columns), 'row_version', 'row_deleted']),
        lines: `SELECT ${lineOf(project, [...values, String(version), '0'])} ${rows}`,
      }
    }),
    {
      name: 'removed_events',
      insert: insertInto('removed_events', ['uuid', 'log_seq']),
      lines: `SELECT ${lineOf(project, ['uuid::VARCHAR', 'log_seq'])} FROM ${at}.removed_events`,
    },
    {
      name: 'last_events',
      insert: insertInto('last_events', ['person_no', 'last_at']),
      lines: `SELECT ${lineOf(project, ['person_no', timeText('last_at')])} FROM ${at}.last_events`,
    },
    {
      name: 'meta',
      insert: insertInto('meta', ['key', 'value', 'row_version', 'row_deleted']),
      lines: `SELECT ${lineOf(project, ['key', 'value', String(version), '0'])} FROM ${at}.meta
        WHERE key NOT IN (${ownMeta.map((key) => `'${key}'`).join(', ')})`,
    },
  ]
}

const plainColumns = ['distinct_id', 'session_id', 'window_id', 'group_0', 'group_1', 'group_2', 'group_3', 'group_4']

/** The events of a range of the log. */
export const movedEvents = {
  insert: insertedEvents,
  lines: (project: number, at: string, fromSeq: number, toSeq: number): string => {
    const values = [
      'n.name',
      'e.uuid::VARCHAR',
      timeText('e.timestamp'),
      'e.person_no',
      ...plainColumns.map((column) => `e.${column}`),
      timeText('e.created_at'),
      'e.log_seq',
      'e.person_mode',
      'e.elements_chain',
      'e.properties',
    ]
    return `SELECT ${lineOf(project, values)} FROM ${at}.events AS e JOIN ${at}.event_names AS n USING (event_id)
      WHERE e.log_seq BETWEEN ${fromSeq} AND ${toSeq} ORDER BY e.log_seq`
  },
}
