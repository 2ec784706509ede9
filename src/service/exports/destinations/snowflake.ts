import { createHash, createPrivateKey, createPublicKey, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { choice, text } from '../../accounts/fields.ts'
import { type ApiAnswer, type ApiClient, type ApiTimes, apiClient, apiTimes } from '../writing/api-client.ts'
import { postgresFields } from '../writing/postgres-columns.ts'
import { pemOf, signedToken } from '../writing/signed-token.ts'
import {
  type ColumnType,
  type Destination,
  DestinationError,
  defineDestination,
  type ExportColumn,
  type ExportRun,
  type Outside,
  type RowFile,
  type Sink,
} from './destination.ts'

const optional = () => text({ blank: true }).nullable().default(null)

const config = z
  .object({
    account: text().refine((name) => /^[\w-]+(\.[\w-]+)*$/.test(name), { error: 'Enter an account identifier, such as myorg-myaccount.' }),
    user: text(),
    database: text(),
    warehouse: text(),
    schema: text(),
    table_name: text()
      .nullish()
      .transform((name) => name ?? 'events'),
    authentication_type: choice(['password', 'keypair'])
      .nullish()
      .transform((type) => type ?? 'password'),
    password: optional(),
    private_key: optional(),
    private_key_passphrase: optional(),
    role: optional(),
  })
  .superRefine(({ authentication_type, password, private_key }, context) => {
    const needed = authentication_type === 'password' ? 'password' : 'private_key'
    if (needed === 'password' ? password : private_key) return
    const message = `Required for the authentication type ${authentication_type}.`
    context.addIssue({ code: 'custom', message, path: [needed], params: { rule: 'required' } })
  })
type Config = z.infer<typeof config>

const hostOf = ({ account }: Config) => `https://${account.replaceAll('_', '-')}.snowflakecomputing.com`

/** Rows of a table. Parts of the files are inserted into a staging table as JSON, and merged into the table by one statement. `at`: for tests. */
export const snowflakeAt = (at: (settings: Config) => string, times: ApiTimes): Destination =>
  defineDestination<Config>({
    type: 'Snowflake',
    summary: 'A table of a Snowflake database.',
    config,
    secrets: ['user', 'password', 'private_key', 'private_key_passphrase'],
    sentTo: ['account'],
    files: () => ({ format: 'JSONLines', compression: null, maxFileBytes: 16 * 1024 ** 2 }),
    columns: (_, model) =>
      model === 'events' ? postgresFields.map((field) => ({ ...field, alias: field.alias.replace(/^set/, 'people_set') })) : null,
    steps: (settings, outside) => {
      const service = new Snowflake(settings, outside, at(settings), times)
      const { database, schema, warehouse } = settings
      return [
        {
          name: 'Check Snowflake connection',
          description: `Ensure that the account can be reached, that the user is accepted, and that the warehouse ${warehouse} can be used.`,
          run: async (signal) => void (await service.query('SELECT 1', [], signal)),
        },
        {
          name: 'Check Snowflake database and schema exist',
          description: `Ensure that the schema ${schema} exists in the database ${database}.`,
          run: (signal) => mustHaveSchema(service, settings, signal),
        },
        {
          name: 'Check Snowflake table can be written',
          description: 'Creates a table in the schema, and drops it.',
          run: async (signal) => {
            const probe = service.name(`waymark_test_${randomUUID()}`)
            await service.query(`CREATE TRANSIENT TABLE ${probe} (probe VARCHAR)`, [], signal)
            await service.query(`DROP TABLE ${probe}`, [], signal)
          },
        },
      ]
    },
    open: async (settings, run, outside, signal) => {
      const sink = new SnowflakeSink(settings, run, new Snowflake(settings, outside, at(settings), times))
      await sink.begin(signal)
      return sink
    },
  })

export const snowflake = snowflakeAt(hostOf, apiTimes)

const types: Readonly<Record<ColumnType, string>> = {
  uuid: 'VARCHAR',
  text: 'VARCHAR',
  integer: 'NUMBER',
  float: 'FLOAT',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP_TZ',
  date: 'DATE',
  json: 'VARIANT',
  list: 'VARIANT',
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const literal = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
const refused = (message: string, cause?: unknown) => new DestinationError(message, { isRetryable: false, cause })

/** Of the JSON in one statement: a text has at most 16 MB. */
const partBytes = 4 * 1024 ** 2

async function mustHaveSchema(service: Snowflake, { database, schema }: Config, signal: AbortSignal): Promise<void> {
  const found = await service.query(`SELECT 1 FROM ${quoted(database)}.information_schema.schemata WHERE schema_name = ?`, [schema], signal)
  if (found.length === 0)
    throw refused(
      `The database ${database} has no schema ${schema} that the user may use. Create it, or change schema; names are case-sensitive.`,
    )
}

class SnowflakeSink implements Sink {
  private readonly target: string
  private readonly staging: string
  private existing: ReadonlyMap<string, string> = new Map()
  private readonly settings: Config
  private readonly run: ExportRun
  private readonly service: Snowflake

  constructor(settings: Config, run: ExportRun, service: Snowflake) {
    this.settings = settings
    this.run = run
    this.service = service
    const hash = createHash('sha256').update(run.key).digest('hex').slice(0, 20)
    this.target = service.name(settings.table_name)
    this.staging = service.name(`${settings.table_name}_waymark_${hash}`)
  }

  async begin(signal: AbortSignal): Promise<void> {
    await mustHaveSchema(this.service, this.settings, signal)
    const definition = (column: ExportColumn) => `${quoted(column.name)} ${types[column.type]}`
    const { columns } = this.run
    await this.query(`CREATE TABLE IF NOT EXISTS ${this.target} (${columns.map(definition).join(', ')})`, signal)
    const existing = await this.columnsOfTarget(signal)
    const missing = columns.filter(({ name }) => !existing.has(name))
    if (missing.length > 0) await this.query(`ALTER TABLE ${this.target} ADD COLUMN ${missing.map(definition).join(', ')}`, signal)
    this.existing = missing.length > 0 ? await this.columnsOfTarget(signal) : existing
    // Also replaces what an attempt that was killed has left. Temporary tables would end with each request.
    await this.query(`CREATE OR REPLACE TRANSIENT TABLE ${this.staging} LIKE ${this.target}`, signal)
  }

  async write({ path }: RowFile, signal: AbortSignal): Promise<void> {
    for (const part of partsOf(await readFile(path))) {
      const rows = `[${part.toString().trimEnd().replaceAll('\n', ',')}]`
      const values = this.run.columns.map((column) => this.valueOf(column)).join(', ')
      await this.service.query(
        `INSERT INTO ${this.staging} (${this.names()}) SELECT ${values} FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))`,
        [rows],
        signal,
      )
    }
  }

  async publish(signal: AbortSignal): Promise<void> {
    if (this.run.identity.length > 0) await this.query(this.merge(), signal)
    else await this.addOnce(signal)
    await this.discard(signal)
  }

  async discard(signal: AbortSignal): Promise<void> {
    await this.query(`DROP TABLE IF EXISTS ${this.staging}`, signal).catch(() => undefined)
  }

  private valueOf({ name, type }: ExportColumn): string {
    const value = `value:${quoted(name)}`
    if (types[type] !== 'VARIANT') return `${value}::${types[type]}`
    const shown = this.existing.get(name) === 'TEXT' ? `TO_JSON(${value})` : value
    return `IFF(${value} IS NULL OR IS_NULL_VALUE(${value}), NULL, ${shown})`
  }

  private merge(): string {
    const { identity, columns } = this.run
    const keys = identity.map(quoted)
    const isSame = keys.map((key) => `old.${key} = new.${key}`).join(' AND ')
    const rows = `SELECT * FROM ${this.staging} QUALIFY ROW_NUMBER() OVER (PARTITION BY ${keys.join(', ')} ORDER BY NULL) = 1`
    const names = columns.map(({ name }) => quoted(name))
    const set = names.map((name) => `old.${name} = new.${name}`).join(', ')
    const values = names.map((name) => `new.${name}`).join(', ')
    return `MERGE INTO ${this.target} AS old USING (${rows}) AS new ON ${isSame} WHEN MATCHED THEN UPDATE SET ${set} WHEN NOT MATCHED THEN INSERT (${this.names()}) VALUES (${values})`
  }

  /** Keys of runs whose rows have no identity: a second attempt finds them, and adds nothing. */
  private async addOnce(signal: AbortSignal): Promise<void> {
    const runs = this.service.name('waymark_published_runs')
    await this.query(`CREATE TABLE IF NOT EXISTS ${runs} ("table_name" VARCHAR, "key" VARCHAR)`, signal)
    const [table, key] = [literal(this.settings.table_name), literal(this.run.key)]
    const isNew = `NOT EXISTS (SELECT 1 FROM ${runs} WHERE "table_name" = ${table} AND "key" = ${key})`
    await this.service.transaction(
      [
        `INSERT INTO ${this.target} (${this.names()}) SELECT ${this.names()} FROM ${this.staging} WHERE ${isNew}`,
        `INSERT INTO ${runs} SELECT ${table}, ${key} WHERE ${isNew}`,
      ],
      signal,
    )
  }

  private async columnsOfTarget(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { database, schema, table_name } = this.settings
    const sql = `SELECT column_name, data_type FROM ${quoted(database)}.information_schema.columns WHERE table_schema = ? AND table_name = ?`
    return new Map((await this.service.query(sql, [schema, table_name], signal)) as readonly [string, string][])
  }

  private names(): string {
    return this.run.columns.map(({ name }) => quoted(name)).join(', ')
  }

  private async query(sql: string, signal: AbortSignal): Promise<void> {
    await this.service.query(sql, [], signal)
  }
}

/** Whole lines. JSON escapes line breaks inside of texts. */
function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const last = bytes.length - start <= partBytes ? -1 : bytes.lastIndexOf(10, start + partBytes)
    const end =
      bytes.length - start <= partBytes ? bytes.length : (last > start ? last : bytes.indexOf(10, start + partBytes)) + 1 || bytes.length
    yield bytes.subarray(start, end)
    start = end
  }
}

type ResultRows = readonly (readonly (string | null)[])[]

/** The SQL API: each statement has a session of its own. */
class Snowflake {
  private readonly api: ApiClient
  private token: { readonly value: string; readonly until: number } | null = null
  private readonly settings: Config
  private readonly outside: Outside
  private readonly at: string

  constructor(settings: Config, outside: Outside, at: string, times: ApiTimes) {
    this.settings = settings
    this.outside = outside
    this.at = at
    this.api = apiClient('Snowflake', outside, times)
  }

  name(table: string): string {
    const { database, schema } = this.settings
    return [database, schema, table].map(quoted).join('.')
  }

  query(statement: string, params: readonly string[], signal: AbortSignal): Promise<ResultRows> {
    const bindings = Object.fromEntries(params.map((value, i) => [String(i + 1), { type: 'TEXT', value }]))
    return this.submit({ statement, ...(params.length > 0 ? { bindings } : {}) }, signal)
  }

  /** If one of them fails, the session ends, and nothing is changed. */
  async transaction(statements: readonly string[], signal: AbortSignal): Promise<void> {
    const all = ['BEGIN', ...statements, 'COMMIT']
    await this.submit({ statement: all.join(';\n'), parameters: { MULTI_STATEMENT_COUNT: String(all.length) } }, signal)
  }

  private async submit(statement: object, signal: AbortSignal): Promise<ResultRows> {
    const { database, schema, warehouse, role } = this.settings
    // Of a request that is repeated with its id, Snowflake executes the statement once.
    const url = `${this.at}/api/v2/statements?requestId=${randomUUID()}&retry=true`
    const body = { ...statement, database, schema, warehouse, ...(role ? { role } : {}), timeout: 0 }
    const first = await this.api.send({ method: 'POST', url, headers: this.headers(), body }, signal)
    const answer = first.status === 202 ? await this.finished(first, signal) : first
    if (answer.status !== 200) throw this.failureOf(answer)
    return (answer.json?.data ?? []) as ResultRows
  }

  private finished({ json }: ApiAnswer, signal: AbortSignal): Promise<ApiAnswer> {
    const url = `${this.at}/api/v2/statements/${String(json?.statementHandle)}`
    return this.api.poll(async () => {
      const answer = await this.api.send({ method: 'GET', url, headers: this.headers() }, signal)
      return answer.status === 202 ? null : answer
    }, signal)
  }

  private headers(): Readonly<Record<string, string>> {
    const isKey = this.settings.authentication_type === 'keypair'
    return {
      accept: 'application/json',
      'user-agent': 'waymark/1',
      authorization: `Bearer ${isKey ? this.keyToken() : this.settings.password}`,
      'x-snowflake-authorization-token-type': isKey ? 'KEYPAIR_JWT' : 'PROGRAMMATIC_ACCESS_TOKEN',
    }
  }

  private keyToken(): string {
    const seconds = Math.floor(this.outside.clock().getTime() / 1000)
    if (this.token && this.token.until > seconds) return this.token.value
    const { account, user, private_key, private_key_passphrase } = this.settings
    const key = { key: pemOf(private_key ?? ''), ...(private_key_passphrase ? { passphrase: private_key_passphrase } : {}) }
    // An account locator stands without its region, `xy12345.eu-central-1`.
    const subject = `${account.split('.')[0]}.${user}`.toUpperCase()
    const claims = { iss: `${subject}.${fingerprintOf(key)}`, sub: subject, iat: seconds, exp: seconds + 3600 }
    this.token = { value: signedToken({}, claims, key, 'private_key'), until: seconds + 3000 }
    return this.token.value
  }

  private failureOf({ status, json, text: said }: ApiAnswer): DestinationError {
    const { user, warehouse, role, authentication_type } = this.settings
    const message = typeof json?.message === 'string' ? json.message : said.slice(0, 200)
    const code = String(json?.code ?? '')
    if (status === 401 || status === 403) {
      const advice =
        authentication_type === 'keypair'
          ? `Check account and user, and that the public key of private_key is set as RSA_PUBLIC_KEY of the user.`
          : `Its API takes programmatic access tokens instead of passwords: create one for ${user} and set it as password, or use the authentication type keypair.`
      return refused(`Snowflake refuses the user ${user} (${status}): ${message} ${advice}`)
    }
    if (status === 422 && (code === '000606' || code === '002043' || /warehouse/i.test(message)))
      return refused(`Snowflake answered: ${message} Check warehouse (${warehouse})${role ? ` and role (${role})` : ''}.`)
    if (status === 422 && /does not exist or not authorized|Insufficient privileges/i.test(message))
      return refused(
        `Snowflake answered: ${message} Check database and schema, and the privileges of ${role ? `the role ${role}` : `${user}`}.`,
      )
    return new DestinationError(`Snowflake answered ${status}: ${message}`, {
      isRetryable: status >= 500 || status === 429 || status === 408,
    })
  }
}

/** Of the public key, as Snowflake shows it. */
function fingerprintOf(key: { readonly key: string; readonly passphrase?: string }): string {
  try {
    const der = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' })
    return `SHA256:${createHash('sha256').update(der).digest('base64')}`
  } catch (cause) {
    throw refused(
      'private_key is not a private key in PEM form, or private_key_passphrase is wrong. Copy it with its BEGIN and END lines.',
      cause,
    )
  }
}
