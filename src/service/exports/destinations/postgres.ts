import * as z from 'zod'
import { csvMarks } from '../ports.ts'
import { connectPostgres, type PostgresConnection, quoted, serverError, tableSettings, withPostgres } from '../writing/postgres-client.ts'
import { postgresFields } from '../writing/postgres-columns.ts'
import {
  type ColumnType,
  DestinationError,
  defineDestination,
  type ExportColumn,
  type ExportRun,
  type Limits,
  type RowFile,
  type Sink,
  usualLimits,
} from './destination.ts'

const config = z.object(tableSettings(5432))
type Config = z.infer<typeof config>

const name = 'PostgreSQL'

/**
 * Rows of a table, in one transaction. The files of a run are copied into the table itself, unless some of their rows are there already: then into a
 * temporary table, which is merged into the table at the end.
 */
export const postgres = defineDestination<Config>({
  type: 'Postgres',
  summary: 'A table of a PostgreSQL database.',
  config,
  secrets: ['user', 'password'],
  sentTo: ['host', 'port'],
  places: ({ host }) => [['host', host]],
  files: () => ({ format: 'CSV', compression: null, maxFileBytes: 128 * 1024 ** 2 }),
  columns: (_, model) => (model === 'events' ? postgresFields : null),
  steps: (settings, outside) => {
    const { database, schema, table_name } = settings
    const step = (title: string, description: string, check: (connection: PostgresConnection, signal: AbortSignal) => Promise<void>) => ({
      name: title,
      description,
      run: (signal: AbortSignal) => withPostgres(settings, name, outside, signal, (connection) => check(connection, signal)),
    })
    return [
      step(
        'Check PostgreSQL connection',
        'Ensure that the host can be reached, and that user and password are accepted.',
        async () => undefined,
      ),
      step('Check PostgreSQL database exists', `Ensure that the database ${database} exists.`, async () => undefined),
      step('Check PostgreSQL schema exists', `Ensure that the schema ${schema} exists.`, (connection, signal) =>
        mustHaveSchema(connection, settings, signal),
      ),
      step(
        'Check PostgreSQL table can be written',
        `Ensure that the table ${table_name} exists or can be created, and takes rows.`,
        (connection, signal) => mustBeWritable(connection, settings, signal),
      ),
    ]
  },
  open: async (settings, run, outside, signal) => {
    const connection = await connectPostgres(settings, name, outside, signal)
    try {
      await mustHaveSchema(connection, settings, signal)
      const sink = new PostgresSink(settings, run, connection, outside.limits ?? usualLimits)
      await sink.begin(signal)
      return sink
    } catch (error) {
      await connection.close()
      throw error
    }
  },
})

const types: Readonly<Record<ColumnType, string>> = {
  uuid: 'uuid',
  text: 'text',
  integer: 'bigint',
  float: 'double precision',
  boolean: 'boolean',
  time: 'timestamptz',
  date: 'date',
  json: 'jsonb',
  list: 'jsonb',
}

const refused = (message: string) => new DestinationError(message, { isRetryable: false })

async function mustHaveSchema(connection: PostgresConnection, { schema, database }: Config, signal: AbortSignal): Promise<void> {
  const found = await connection.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema], signal)
  if (found.length === 0) throw refused(`The database ${database} has no schema ${schema}. Create it, or change schema.`)
}

async function mustBeWritable(connection: PostgresConnection, { schema, table_name, user }: Config, signal: AbortSignal): Promise<void> {
  const table = `${quoted(schema)}.${quoted(table_name)}`
  const [found] = await connection.query<{ table: boolean; write: boolean | null; create: boolean }>(
    `SELECT to_regclass($1) IS NOT NULL AS table, has_table_privilege(to_regclass($1), 'INSERT, DELETE') AS write,
     has_schema_privilege($2, 'CREATE') AS create`,
    [table, schema],
    signal,
  )
  if (found!.table ? found!.write : found!.create) return
  const missing = found!.table
    ? `INSERT and DELETE on the table ${table}`
    : `CREATE on the schema ${schema}, or a table ${table_name} in it`
  throw refused(`The user ${user} needs ${missing}.`)
}

/** Keys of runs whose rows have no identity: a second attempt finds them, and adds nothing. */
const publishedRuns = 'waymark_published_runs'
/** For the keys of a run. The default of PostgreSQL, 4 MB, would write them to files. */
const workMemory = '64MB'
const staging = 'waymark_staging'
const orderColumn = 'waymark_order'

/** PostgreSQL cuts longer names off. */
const longestName = 63
const uniqueViolation = '23505'
const copyOptions = `FORMAT csv, DELIMITER '${csvMarks.delimiter}', QUOTE '${csvMarks.quote}'`

class PostgresSink implements Sink {
  private readonly table: string
  private readonly settings: Config
  private readonly run: ExportRun
  private readonly connection: PostgresConnection
  /** Types of the columns of the table. */
  private types: ReadonlyMap<string, string> = new Map()
  private readonly limits: Limits
  /** Names of the unique indexes over the identity of rows. */
  private indexes: readonly string[] = []
  private isInTransaction = false
  /** Whether rows are copied into the table itself. */
  private isDirect = false
  private isStaging = false
  /** Rows without an identity, which an earlier attempt has added. */
  private isPublished = false

  constructor(settings: Config, run: ExportRun, connection: PostgresConnection, limits: Limits) {
    this.settings = settings
    this.run = run
    this.connection = connection
    this.limits = limits
    this.table = `${quoted(settings.schema)}.${quoted(settings.table_name)}`
  }

  async begin(signal: AbortSignal): Promise<void> {
    const long = this.run.columns.find(({ name }) => Buffer.byteLength(name) > longestName)
    if (long) throw refused(`PostgreSQL supports column names of up to ${longestName} bytes. Rename "${long.name}" with AS.`)
    await this.inTransaction(signal)
    // Two runs that create the same table at the same time would fail, with IF NOT EXISTS too.
    await this.connection.query('SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))', ['waymark', this.table], signal)
    this.types = await this.tableWithColumns(signal)
    if (this.hasNoIdentity)
      await this.query(`CREATE TABLE IF NOT EXISTS ${this.runs} (table_name text, key text, PRIMARY KEY (table_name, key))`, signal)
    else this.indexes = await this.identityIndexes(signal)
    // Events are new, as a rule. Persons and sessions replace rows.
    const isNew = this.hasNoIdentity || (this.indexes.length > 0 && this.run.model === 'events')
    this.isDirect = isNew && (await this.takesCopies(signal))
    await this.query('COMMIT', signal)
  }

  async write({ path }: RowFile, signal: AbortSignal): Promise<void> {
    await this.start(signal)
    if (this.isPublished || (this.isDirect && (await this.isCopied(path, signal)))) return
    this.isDirect = false
    await this.stage(path, signal)
  }

  async publish(signal: AbortSignal): Promise<void> {
    await this.start(signal)
    if (this.isStaging) {
      await this.query(`SET LOCAL work_mem = '${workMemory}'`, signal)
      await this.query(`ANALYZE pg_temp.${staging}`, signal, true)
      if (this.hasNoIdentity) await this.add(signal)
      else await this.merge(signal)
    }
    await this.query('COMMIT', signal, true)
    await this.connection.close()
  }

  /** What was not committed ends with the connection. */
  discard(): Promise<void> {
    return this.connection.close()
  }

  private get hasNoIdentity(): boolean {
    return this.run.identity.length === 0
  }

  private get runs(): string {
    return `${quoted(this.settings.schema)}.${publishedRuns}`
  }

  /** With waits that end by themselves: for locks of others, and of others for a connection that is lost. */
  private async inTransaction(signal: AbortSignal): Promise<void> {
    await this.query('BEGIN ISOLATION LEVEL READ COMMITTED', signal)
    const limits = {
      lock_timeout: this.limits.lockMs,
      idle_in_transaction_session_timeout: this.limits.silentMs * 60,
      tcp_keepalives_idle: 30,
      tcp_keepalives_interval: 10,
    }
    await this.connection.query(
      'SELECT set_config(name, value, true) FROM json_each_text($1) AS limits(name, value) WHERE name IN (SELECT name FROM pg_settings)',
      [JSON.stringify(limits)],
      signal,
    )
  }

  /** The transaction of the rows. */
  private async start(signal: AbortSignal): Promise<void> {
    if (this.isInTransaction) return
    this.isInTransaction = true
    await this.inTransaction(signal)
    if (!this.hasNoIdentity) return
    const added = await this.connection.query(
      `INSERT INTO ${this.runs} VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING key`,
      [this.settings.table_name, this.run.key],
      signal,
    )
    this.isPublished = added.length === 0
  }

  /** False: some of the rows are there already, and none was copied. */
  private async isCopied(path: string, signal: AbortSignal): Promise<boolean> {
    await this.query('SAVEPOINT part', signal)
    try {
      await this.connection.copyFrom(`COPY ${this.table} (${this.names()}) FROM STDIN (${copyOptions})`, path, signal)
    } catch (error) {
      if (this.hasNoIdentity || serverError(error).code !== uniqueViolation) throw error
      await this.query('ROLLBACK TO SAVEPOINT part', signal)
      return false
    }
    await this.query('RELEASE SAVEPOINT part', signal)
    return true
  }

  private async stage(path: string, signal: AbortSignal): Promise<void> {
    if (!this.isStaging) {
      const columns = this.run.columns.map((column) => `${quoted(column.name)} ${this.types.get(column.name)}`)
      await this.query(
        `CREATE TEMP TABLE ${staging} (${orderColumn} bigint GENERATED ALWAYS AS IDENTITY, ${columns.join(', ')}) ON COMMIT DROP`,
        signal,
      )
    }
    this.isStaging = true
    await this.connection.copyFrom(`COPY pg_temp.${staging} (${this.names()}) FROM STDIN (${copyOptions})`, path, signal)
  }

  private async merge(signal: AbortSignal): Promise<void> {
    const keys = this.run.identity.map(quoted)
    const isSame = (one: string, other: string) => keys.map((key) => `${one}.${key} = ${other}.${key}`).join(' AND ')
    const repeated = `SELECT 1 FROM pg_temp.${staging} GROUP BY ${keys.join(', ')} HAVING count(*) > 1 LIMIT 1`
    // Of rows with one identity, the one that arrived last stays.
    if ((await this.connection.query(repeated, [], signal, true)).length > 0)
      await this.query(
        `DELETE FROM pg_temp.${staging} AS old USING pg_temp.${staging} AS new WHERE ${isSame('old', 'new')} AND old.${orderColumn} < new.${orderColumn}`,
        signal,
        true,
      )
    await this.query(`DELETE FROM ${this.table} AS old USING pg_temp.${staging} AS new WHERE ${isSame('old', 'new')}`, signal, true)
    try {
      await this.add(signal)
    } catch (error) {
      const { code, constraint } = serverError(error)
      if (code !== uniqueViolation || !this.indexes.includes(constraint!)) throw error
      const message = `Another transaction has added rows with the same ${this.run.identity.join(', ')} to the table ${this.table} meanwhile.`
      throw new DestinationError(message, { isRetryable: true, cause: error })
    }
  }

  /** Without a sort, rows come as they were copied. */
  private add(signal: AbortSignal): Promise<void> {
    return this.query(`INSERT INTO ${this.table} (${this.names()}) SELECT ${this.names()} FROM pg_temp.${staging}`, signal, true)
  }

  /** The types of the columns of the table, which gets the columns of the run that it lacks. */
  private async tableWithColumns(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { columns, identity } = this.run
    const isNew = (await this.existing(signal)).size === 0
    const definition = (column: ExportColumn) => `${quoted(column.name)} ${types[column.type]}`
    if (isNew) {
      const key = identity.length > 0 ? [`PRIMARY KEY (${identity.map(quoted).join(', ')})`] : []
      await this.query(`CREATE TABLE IF NOT EXISTS ${this.table} (${[...columns.map(definition), ...key].join(', ')})`, signal)
    }
    const found = await this.existing(signal)
    const missing = columns.filter((column) => !found.has(column.name))
    if (missing.length === 0) return found
    const added = missing.map((column) => `ADD COLUMN IF NOT EXISTS ${definition(column)}`)
    await this.query(`ALTER TABLE ${this.table} ${added.join(', ')}`, signal)
    return this.existing(signal)
  }

  private async existing(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const sql = `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`
    const rows = await this.connection.query<{ name: string; type: string }>(sql, [this.table], signal)
    return new Map(rows.map((row) => [row.name, row.type]))
  }

  /** None if nothing stops a row from being added twice, or only at the end of the transaction. */
  private async identityIndexes(signal: AbortSignal): Promise<readonly string[]> {
    const sql = `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE indrelid = to_regclass($1) AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL AND indexprs IS NULL AND (
        SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute
        WHERE attrelid = indrelid AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1])
      ) = $2::text[]`
    const found = await this.connection.query<{ name: string }>(sql, [this.table, [...this.run.identity].sort()], signal)
    return found.map(({ name }) => name)
  }

  /** Views, tables with rules and those with row security take rows by INSERT only; a partition reports an index of its own. */
  private async takesCopies(signal: AbortSignal): Promise<boolean> {
    const sql = `SELECT 1 FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'r' AND NOT relhasrules AND NOT row_security_active(oid)`
    return (await this.connection.query(sql, [this.table], signal)).length > 0
  }

  private names(): string {
    return this.run.columns.map((column) => quoted(column.name)).join(', ')
  }

  private async query(sql: string, signal: AbortSignal, mayTakeLong = false): Promise<void> {
    await this.connection.query(sql, [], signal, mayTakeLong)
  }
}
