import { type ChangedTable, type ColumnKind, changedTables } from '../../../language/catalog/changed-tables.ts'

// The rows of a project in ClickHouse as the rows of the same tables in its DuckDB store: statements for ClickHouse that print an object of JSON for each row, and
// statements for DuckDB that take a list of such objects as their parameter.

export interface TableBack {
  readonly name: string
  /** For ClickHouse, without the format. */
  readonly query: string
  /** For DuckDB: removes the rows that are replaced. */
  remove(at: string): string
  insert(at: string): string
}

interface Column {
  readonly name: string
  /** In DuckDB. */
  readonly type: string
  /** What ClickHouse prints. */
  readonly printed?: string
  /** What DuckDB stores; default: the value itself. */
  readonly stored?: string
}

const types: Readonly<Record<ColumnKind, string>> = {
  text: 'VARCHAR',
  uuid: 'UUID',
  time: 'TIMESTAMP',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
}
const printedAs = (name: string, kind: ColumnKind) => (kind === 'time' || kind === 'uuid' ? `toString(${name})` : name)

/** Names of properties begin without slots: the store gives them some when it is opened, and fills them. */
const storedAs: Readonly<Record<string, string>> = { 'property_keys.slots': "''", 'property_keys.ready_slots': "''" }
const sizeOf = 'strlen(properties) + strlen(property_times)'
const sized: ReadonlySet<ChangedTable> = new Set(['persons', 'groups'])

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** What is between JSON and the types of the columns. */
const inJson: Readonly<Record<string, string>> = { UUID: 'VARCHAR', TIMESTAMP: 'VARCHAR', UTINYINT: 'INTEGER' }

/** The rows of the parameter, their columns named with a line before. */
function rowsOf(columns: readonly Column[]): string {
  const structure = JSON.stringify([Object.fromEntries(columns.map(({ name, type }) => [`_${name}`, inJson[type] ?? type]))])
  const values = columns.map(({ name, type }) => `r._${name}${type in inJson ? `::${type}` : ''} AS _${name}`)
  return `(SELECT ${values.join(', ')} FROM (SELECT unnest(from_json($1, ${quoted(structure)})) AS r))`
}
const printed = (columns: readonly Column[]) => columns.map(({ name, printed = name }) => `${printed} AS _${name}`).join(', ')

function table(name: string, columns: readonly Column[], more: string, keeps = ''): TableBack {
  const size = sized.has(name as ChangedTable) ? { target: ', size', value: `, ${sizeOf}` } : { target: '', value: '' }
  const values = columns.map(({ name: column, stored = `_${column}` }) => `${stored} AS ${column}`)
  return {
    name,
    query: `SELECT ${printed(columns)} FROM ${name} WHERE project_id = {project}${more}`,
    remove: (at) => `DELETE FROM ${at}.${name}${keeps}`,
    insert: (at) => `INSERT INTO ${at}.${name} (${columns.map(({ name: column }) => column).join(', ')}${size.target})
      SELECT *${size.value} FROM (SELECT ${values.join(', ')} FROM ${rowsOf(columns)})`,
  }
}

const changed = (Object.entries(changedTables) as [ChangedTable, { readonly columns: Readonly<Record<string, ColumnKind>> }][]).map(
  ([name, { columns }]): TableBack =>
    table(
      name,
      Object.entries(columns).map(([column, kind]): Column => {
        const stored = storedAs[`${name}.${column}`]
        return { name: column, type: types[kind], printed: printedAs(column, kind), ...(stored !== undefined && { stored }) }
      }),
      '',
    ),
)

/** What each store makes for itself, and what only ClickHouse has. */
const ownMeta = ['format', 'format_before', 'definitions_bounded', 'changed_events_seq', 'store_id', 'retired_slots', 'committed_group']
const isOwn = `key IN (${ownMeta.map(quoted).join(', ')})`

/** All tables without the events. */
export const tablesBack: readonly TableBack[] = [
  ...changed,
  table(
    'removed_events',
    [
      { name: 'uuid', type: 'UUID', printed: 'toString(uuid)' },
      { name: 'log_seq', type: 'BIGINT' },
    ],
    '',
  ),
  table(
    'last_events',
    [
      { name: 'person_no', type: 'INTEGER' },
      { name: 'last_at', type: 'TIMESTAMP', printed: 'toString(max(last_at))' },
    ],
    ' GROUP BY person_no',
  ),
  table(
    'meta',
    [
      { name: 'key', type: 'VARCHAR' },
      { name: 'value', type: 'VARCHAR' },
    ],
    ` AND NOT (${isOwn})`,
    ` WHERE NOT (${isOwn})`,
  ),
]

const eventColumns: readonly Column[] = [
  { name: 'event', type: 'VARCHAR' },
  { name: 'uuid', type: 'UUID', printed: 'toString(uuid)' },
  { name: 'timestamp', type: 'TIMESTAMP', printed: 'toString(timestamp)' },
  { name: 'person_no', type: 'INTEGER' },
  ...['distinct_id', 'session_id', 'window_id', 'group_0', 'group_1', 'group_2', 'group_3', 'group_4'].map((name) => ({
    name,
    type: 'VARCHAR',
  })),
  { name: 'created_at', type: 'TIMESTAMP', printed: 'toString(created_at)' },
  { name: 'log_seq', type: 'BIGINT' },
  { name: 'person_mode', type: 'UTINYINT' },
  { name: 'elements_chain', type: 'VARCHAR' },
  { name: 'properties', type: 'VARCHAR' },
]

/** The numbers of the names of events. */
export const namesBack = {
  query: 'SELECT event_id AS _event_id, name AS _name FROM event_names WHERE project_id = {project}',
  insert: (table: string) =>
    `INSERT INTO ${table} SELECT * FROM ${rowsOf([
      { name: 'event_id', type: 'INTEGER' },
      { name: 'name', type: 'VARCHAR' },
    ])}`,
}

/** The events of a range of the log. `names`: a table of DuckDB with the numbers of their names. */
export const eventsBack = {
  query: (fromSeq: number, toSeq: number) =>
    `SELECT ${printed(eventColumns)} FROM events WHERE project_id = {project} AND log_seq BETWEEN ${fromSeq} AND ${toSeq} ORDER BY log_seq`,
  insert(at: string, names: string): string {
    const others = eventColumns.slice(1).map(({ name }) => name)
    return `INSERT INTO ${at}.events (event_id, ${others.join(', ')}) SELECT n.event_id, ${others.map((name) => `r._${name}`).join(', ')}
      FROM ${rowsOf(eventColumns)} AS r JOIN ${names} AS n ON n.name = r._event ORDER BY r._log_seq`
  },
}
