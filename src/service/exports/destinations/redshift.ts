import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { choice } from '../../accounts/fields.ts'
import { connectPostgres, type PostgresConnection, quoted, tableSettings, withPostgres } from '../writing/postgres-client.ts'
import { postgresFields } from '../writing/postgres-columns.ts'
import {
  type ColumnType,
  DestinationError,
  defineDestination,
  type ExportColumn,
  type ExportRun,
  type RowFile,
  type Sink,
} from './destination.ts'

const config = z
  .object({
    ...tableSettings(5439),
    properties_data_type: choice(['varchar', 'super'])
      .nullish()
      .transform((type) => type ?? 'varchar'),
    mode: choice(['INSERT', 'COPY'])
      .nullish()
      .transform((mode) => mode ?? 'INSERT'),
  })
  .superRefine(({ mode }, context) => {
    if (mode === 'INSERT') return
    const message = 'Exports by COPY from a bucket are not supported. Use the mode INSERT, or export to S3 and load from there.'
    context.addIssue({ code: 'custom', message, path: ['mode'] })
  })
type Config = z.infer<typeof config>

const name = 'Amazon Redshift'

/** Rows of a table. They are inserted into a temporary table, many with one statement, and merged into the table in one transaction. */
export const redshift = defineDestination<Config>({
  type: 'Redshift',
  summary: 'A table of an Amazon Redshift database.',
  config,
  secrets: ['user', 'password'],
  sentTo: ['host', 'port'],
  places: ({ host }) => [['host', host]],
  files: () => ({ format: 'JSONLines', compression: null, maxFileBytes: 64 * 1024 ** 2 }),
  columns: (_, model) => (model === 'events' ? postgresFields : null),
  steps: (settings, outside) => [
    {
      name: 'Check Redshift connection',
      description: 'Ensure that the host can be reached, that user and password are accepted, and that the database exists.',
      run: (signal) => withPostgres(settings, name, outside, signal, async () => undefined),
    },
    {
      name: 'Check Redshift schema exists',
      description: `Ensure that the schema ${settings.schema} exists.`,
      run: (signal) => withPostgres(settings, name, outside, signal, (connection) => mustHaveSchema(connection, settings, signal)),
    },
    {
      name: 'Check Redshift table can be written',
      description: `Ensure that the table ${settings.table_name} exists or can be created, and takes rows.`,
      run: (signal) => withPostgres(settings, name, outside, signal, (connection) => mustBeWritable(connection, settings, signal)),
    },
  ],
  open: async (settings, run, outside, signal) => {
    const connection = await connectPostgres(settings, name, outside, signal)
    try {
      await mustHaveSchema(connection, settings, signal)
      const sink = new RedshiftSink(settings, run, connection)
      await sink.begin(signal)
      return sink
    } catch (error) {
      await connection.close()
      throw error
    }
  },
})

const refused = (message: string) => new DestinationError(message, { isRetryable: false })

async function mustHaveSchema(connection: PostgresConnection, { schema, database }: Config, signal: AbortSignal): Promise<void> {
  const found = await connection.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema], signal)
  if (found.length === 0) throw refused(`The database ${database} has no schema ${schema}. Create it, or change schema.`)
}

async function mustBeWritable(connection: PostgresConnection, settings: Config, signal: AbortSignal): Promise<void> {
  const { schema, table_name, user } = settings
  const exists = (await existingColumns(connection, settings, signal)).size > 0
  const table = `${quoted(schema)}.${quoted(table_name)}`
  const [found] = await connection.query<{ may: boolean }>(
    exists
      ? `SELECT has_table_privilege($1, 'INSERT') AND has_table_privilege($1, 'DELETE') AS may`
      : `SELECT has_schema_privilege($1, 'CREATE') AS may`,
    [exists ? table : schema],
    signal,
  )
  if (found!.may) return
  const missing = exists ? `INSERT and DELETE on the table ${table}` : `CREATE on the schema ${schema}, or a table ${table_name} in it`
  throw refused(`The user ${user} needs ${missing}.`)
}

async function existingColumns(
  connection: PostgresConnection,
  { schema, table_name }: Config,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const sql = 'SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2'
  const rows = await connection.query<{ name: string; type: string }>(sql, [schema, table_name], signal)
  return new Map(rows.map((row) => [row.name, row.type]))
}

const types = (json: 'varchar' | 'super'): Readonly<Record<ColumnType, string>> => {
  const text = 'varchar(65535)'
  return {
    uuid: 'varchar(36)',
    text,
    integer: 'bigint',
    float: 'double precision',
    boolean: 'boolean',
    time: 'timestamptz',
    date: 'date',
    json: json === 'super' ? 'super' : text,
    list: json === 'super' ? 'super' : text,
  }
}

const staging = 'waymark_staging'
const orderColumn = 'waymark_order'
/** Keys of runs whose rows have no identity: a second attempt finds them, and adds nothing. */
const publishedRuns = 'waymark_published_runs'
/** Redshift takes 32,767 parameters and 16 MB for a statement. */
const most = { parameters: 30_000, characters: 4 * 1024 ** 2 }

class RedshiftSink implements Sink {
  private readonly table: string
  private existing: ReadonlyMap<string, string> = new Map()
  private rows = 0
  private readonly settings: Config
  private readonly run: ExportRun
  private readonly connection: PostgresConnection

  constructor(settings: Config, run: ExportRun, connection: PostgresConnection) {
    this.settings = settings
    this.run = run
    this.connection = connection
    this.table = `${quoted(settings.schema)}.${quoted(settings.table_name)}`
  }

  async begin(signal: AbortSignal): Promise<void> {
    await this.createTable(signal)
    this.existing = await existingColumns(this.connection, this.settings, signal)
    await this.query(`CREATE TEMP TABLE ${staging} (LIKE ${this.table})`, signal)
    await this.query(`ALTER TABLE ${staging} ADD COLUMN ${orderColumn} bigint`, signal)
  }

  async write({ path }: RowFile, signal: AbortSignal): Promise<void> {
    const width = this.run.columns.length + 1
    let values: (string | number | boolean | null)[] = []
    let characters = 0
    const send = async () => {
      if (values.length > 0) await this.insert(values, width, signal)
      values = []
      characters = 0
    }
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      const row = JSON.parse(line) as Record<string, unknown>
      if (values.length + width > most.parameters || characters + line.length > most.characters) await send()
      values.push(this.rows++, ...this.run.columns.map((column) => parameterOf(row[column.name])))
      characters += line.length
    }
    await send()
  }

  async publish(signal: AbortSignal): Promise<void> {
    await this.query('BEGIN', signal)
    if (this.run.identity.length > 0) await this.merge(signal)
    else await this.addOnce(signal)
    await this.query('COMMIT', signal)
    await this.connection.close()
  }

  /** The temporary table ends with the connection. */
  discard(): Promise<void> {
    return this.connection.close()
  }

  private async insert(values: readonly unknown[], width: number, signal: AbortSignal): Promise<void> {
    const isSuper = this.run.columns.map((column) => this.existing.get(column.name) === 'super')
    const tuple = (_: unknown, row: number) =>
      `($${row * width + 1}, ${isSuper.map((is, i) => (is ? `JSON_PARSE($${row * width + i + 2})` : `$${row * width + i + 2}`)).join(', ')})`
    const tuples = Array.from({ length: values.length / width }, tuple)
    await this.connection.query(
      `INSERT INTO ${staging} (${orderColumn}, ${this.names()}) VALUES ${tuples.join(', ')}`,
      values,
      signal,
      true,
    )
  }

  private async merge(signal: AbortSignal): Promise<void> {
    const keys = this.run.identity.map(quoted)
    const isSame = keys.map((key) => `${this.table}.${key} = ${staging}.${key}`).join(' AND ')
    await this.query(`DELETE FROM ${this.table} USING ${staging} WHERE ${isSame}`, signal)
    // Of rows with one identity, the one that arrived last.
    const ranked = `SELECT *, row_number() OVER (PARTITION BY ${keys.join(', ')} ORDER BY ${orderColumn} DESC) AS waymark_rank FROM ${staging}`
    await this.add(`(${ranked}) AS ranked WHERE waymark_rank = 1`, signal)
  }

  private async addOnce(signal: AbortSignal): Promise<void> {
    const runs = `${quoted(this.settings.schema)}.${publishedRuns}`
    await this.query(`CREATE TABLE IF NOT EXISTS ${runs} (table_name varchar(512), key varchar(512))`, signal)
    await this.query(`LOCK TABLE ${runs}`, signal)
    const ours = [this.settings.table_name, this.run.key]
    const found = await this.connection.query(`SELECT 1 FROM ${runs} WHERE table_name = $1 AND key = $2`, ours, signal)
    if (found.length > 0) return
    await this.connection.query(`INSERT INTO ${runs} VALUES ($1, $2)`, ours, signal)
    await this.add(staging, signal)
  }

  private add(source: string, signal: AbortSignal): Promise<void> {
    return this.query(`INSERT INTO ${this.table} (${this.names()}) SELECT ${this.names()} FROM ${source} ORDER BY ${orderColumn}`, signal)
  }

  /** Creates the table, or adds the columns that it lacks. */
  private async createTable(signal: AbortSignal): Promise<void> {
    const typeOf = types(this.settings.properties_data_type)
    const definition = (column: ExportColumn) => `${quoted(column.name)} ${typeOf[column.type]}`
    const { columns } = this.run
    await this.query(`CREATE TABLE IF NOT EXISTS ${this.table} (${columns.map(definition).join(', ')})`, signal)
    const existing = await existingColumns(this.connection, this.settings, signal)
    for (const column of columns)
      if (!existing.has(column.name)) await this.query(`ALTER TABLE ${this.table} ADD COLUMN ${definition(column)}`, signal)
  }

  private names(): string {
    return this.run.columns.map((column) => quoted(column.name)).join(', ')
  }

  private async query(sql: string, signal: AbortSignal): Promise<void> {
    await this.connection.query(sql, [], signal, true)
  }
}

const parameterOf = (value: unknown): string | number | boolean | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') return JSON.stringify(value)
  return typeof value === 'string' ? value.replaceAll('\0', '') : (value as number | boolean)
}
