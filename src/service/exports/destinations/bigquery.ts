import { createHash, randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import * as z from 'zod'
import { isObject } from '../../../lib/is-object.ts'
import { isWebAddress } from '../../../lib/web/web-address.ts'
import { flag, text } from '../../accounts/fields.ts'
import { type ApiAnswer, type ApiClient, type ApiRequest, type ApiTimes, apiClient, apiTimes } from '../writing/api-client.ts'
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

const config = z.object({
  project_id: text(),
  dataset_id: text(),
  table_id: text()
    .nullish()
    .transform((name) => name ?? 'events'),
  private_key: text(),
  private_key_id: text(),
  token_uri: text().refine(isWebAddress, { error: 'Enter a URL such as https://oauth2.googleapis.com/token.' }),
  client_email: text(),
  use_json_type: flag()
    .nullish()
    .transform((is) => is ?? false),
})
type Config = z.infer<typeof config>

const origin = 'https://bigquery.googleapis.com'
const scope = 'https://www.googleapis.com/auth/bigquery'

/** Rows of a table. The files of a run are loaded into a staging table, and merged into the table by one statement. `at`: for tests. */
export const bigQueryAt = (at: string, times: ApiTimes): Destination =>
  defineDestination<Config>({
    type: 'BigQuery',
    summary: 'A table of a BigQuery dataset.',
    config,
    secrets: ['private_key', 'private_key_id', 'client_email', 'token_uri'],
    sentTo: ['token_uri', 'project_id'],
    places: ({ token_uri }) => [['token_uri', new URL(token_uri).hostname]],
    files: () => ({ format: 'JSONLines', compression: null, maxFileBytes: 64 * 1024 ** 2 }),
    columns: (_, model) => (model === 'events' ? [...postgresFields, { alias: 'bq_ingested_timestamp', expression: 'now()' }] : null),
    steps: (settings, outside) => {
      const service = () => new BigQuery(settings, outside, at, times)
      return [
        {
          name: 'Check BigQuery project exists',
          description: `Ensure that the key is accepted, and that the project ${settings.project_id} exists.`,
          run: async (signal) =>
            void (await service().call('GET', `/projects/${settings.project_id}/datasets?maxResults=1`, undefined, signal)),
        },
        {
          name: 'Check BigQuery dataset exists',
          description: `Ensure that the dataset ${settings.dataset_id} exists.`,
          run: async (signal) => void (await service().call('GET', service().dataset, undefined, signal)),
        },
        {
          name: 'Check BigQuery table can be written',
          description: 'Creates a table in the dataset, and deletes it.',
          run: async (signal) => {
            const probe = `waymark_test_${randomUUID().replaceAll('-', '_')}`
            await service().createTable(probe, [{ name: 'probe', type: 'text' }], signal, true)
            await service().deleteTable(probe, signal)
          },
        },
      ]
    },
    open: async (settings, run, outside, signal) => {
      const sink = new BigQuerySink(settings, run, new BigQuery(settings, outside, at, times))
      await sink.begin(signal)
      return sink
    },
  })

export const bigQuery = bigQueryAt(origin, apiTimes)

const stagedTypes: Readonly<Record<ColumnType, string>> = {
  uuid: 'STRING',
  text: 'STRING',
  integer: 'INT64',
  float: 'FLOAT64',
  boolean: 'BOOL',
  time: 'TIMESTAMP',
  date: 'DATE',
  json: 'JSON',
  list: 'JSON',
}
const typeOf = ({ type }: ExportColumn, usesJson: boolean) => (stagedTypes[type] === 'JSON' && !usesJson ? 'STRING' : stagedTypes[type])
const quoted = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

/** A part of a resumable upload is a multiple of 256 KiB. */
const uploadBytes = 8 * 1024 ** 2
/** Expiry of staging tables that a killed process left. */
const stagingMs = 24 * 3_600_000

class BigQuerySink implements Sink {
  private readonly staging: string
  /** The types of the columns that the table had before the run. */
  private existing: ReadonlyMap<string, string> = new Map()
  private loads = 0
  private readonly settings: Config
  private readonly run: ExportRun
  private readonly service: BigQuery

  constructor(settings: Config, run: ExportRun, service: BigQuery) {
    this.settings = settings
    this.run = run
    this.service = service
    this.staging = `${settings.table_id}_waymark_${this.hash}`
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { service, settings, run } = this
    await service.locate(signal)
    await service.deleteTable(this.staging, signal)
    await service.createTable(this.staging, run.columns, signal, true)
    const found = await service.columnsOf(settings.table_id, signal)
    if (!found) await service.createTable(settings.table_id, run.columns, signal, false)
    else await service.addColumns(settings.table_id, run.columns, found, signal)
    this.existing = new Map(found?.map(({ name, type }) => [name.toLowerCase(), type]))
  }

  async write({ path, bytes }: RowFile, signal: AbortSignal): Promise<void> {
    const { service } = this
    const load = {
      destinationTable: service.tableReference(this.staging),
      sourceFormat: 'NEWLINE_DELIMITED_JSON',
      writeDisposition: 'WRITE_APPEND',
      createDisposition: 'CREATE_NEVER',
    }
    const id = `waymark_load_${this.hash}_${this.run.attempt}_${this.loads++}_${randomUUID()}`
    await service.loadFile({ configuration: { load }, jobReference: service.jobReference(id) }, path, bytes, signal)
  }

  async publish(signal: AbortSignal): Promise<void> {
    if (this.run.identity.length > 0) await this.service.query(`waymark_merge_${this.hash}_${randomUUID()}`, this.merge(), signal)
    else await this.service.queryOnce(`waymark_add_${this.hash}`, `INSERT ${this.target} (${this.names()}) ${this.staged()}`, signal)
    await this.discard(signal)
  }

  async discard(signal: AbortSignal): Promise<void> {
    await this.service.deleteTable(this.staging, signal).catch(() => undefined)
  }

  private get hash(): string {
    return createHash('sha256').update(`${this.settings.table_id} ${this.run.key}`).digest('hex').slice(0, 20)
  }

  private get target(): string {
    return this.service.tableName(this.settings.table_id)
  }

  private names(of = ''): string {
    return this.run.columns.map(({ name }) => `${of}${quoted(name)}`).join(', ')
  }

  private staged(): string {
    const values = this.run.columns.map((column) => {
      const name = quoted(column.name)
      const type = this.existing.get(column.name.toLowerCase()) ?? typeOf(column, this.settings.use_json_type)
      // Of NULL, TO_JSON_STRING makes the text `null`.
      return stagedTypes[column.type] === 'JSON' && type === 'STRING'
        ? `IF(${name} IS NULL, NULL, TO_JSON_STRING(${name})) AS ${name}`
        : name
    })
    return `SELECT ${values.join(', ')} FROM ${this.service.tableName(this.staging)}`
  }

  private merge(): string {
    const { identity, columns } = this.run
    const keys = identity.map(quoted).join(', ')
    const isSame = identity.map((name) => `old.${quoted(name)} = new.${quoted(name)}`).join(' AND ')
    const rows = `${this.staged()} QUALIFY ROW_NUMBER() OVER (PARTITION BY ${keys}) = 1`
    const set = columns.map(({ name }) => `${quoted(name)} = new.${quoted(name)}`).join(', ')
    return `MERGE ${this.target} AS old USING (${rows}) AS new ON ${isSame} WHEN MATCHED THEN UPDATE SET ${set} WHEN NOT MATCHED THEN INSERT (${this.names()}) VALUES (${this.names('new.')})`
  }
}

interface FieldOfTable {
  readonly name: string
  readonly type: string
  readonly mode?: string
}

class BigQuery {
  private readonly api: ApiClient
  private location: string | null = null
  private token: { readonly value: string; readonly until: number } | null = null
  private readonly settings: Config
  private readonly outside: Outside
  private readonly at: string

  constructor(settings: Config, outside: Outside, at: string, times: ApiTimes) {
    this.settings = settings
    this.outside = outside
    this.at = at
    this.api = apiClient('BigQuery', outside, times)
  }

  get dataset(): string {
    return `/projects/${this.settings.project_id}/datasets/${this.settings.dataset_id}`
  }

  tableReference(tableId: string) {
    return { projectId: this.settings.project_id, datasetId: this.settings.dataset_id, tableId }
  }
  tableName(table: string): string {
    return quoted(`${this.settings.project_id}.${this.settings.dataset_id}.${table}`)
  }
  jobReference(jobId: string) {
    return { projectId: this.settings.project_id, jobId, ...(this.location ? { location: this.location } : {}) }
  }

  /** Jobs run where the dataset is. */
  async locate(signal: AbortSignal): Promise<void> {
    const { location } = await this.call('GET', this.dataset, undefined, signal)
    this.location = typeof location === 'string' ? location : null
  }

  /** Null: there is no such table. */
  async columnsOf(table: string, signal: AbortSignal): Promise<readonly FieldOfTable[] | null> {
    const answer = await this.request('GET', `${this.dataset}/tables/${table}`, undefined, signal)
    if (answer.status === 404) return null
    const { schema } = this.mustSucceed(answer) as { schema?: { fields?: FieldOfTable[] } }
    return schema?.fields ?? []
  }

  async createTable(table: string, columns: readonly ExportColumn[], signal: AbortSignal, isStaging: boolean): Promise<void> {
    const fields = columns.map((column) => ({
      name: column.name,
      type: typeOf(column, isStaging || this.settings.use_json_type),
      mode: 'NULLABLE',
    }))
    const expirationTime = String(this.outside.clock().getTime() + stagingMs)
    const isTimed = columns.some(({ name, type }) => name === 'timestamp' && type === 'time')
    const answer = await this.request(
      'POST',
      `${this.dataset}/tables`,
      {
        tableReference: this.tableReference(table),
        schema: { fields },
        ...(isStaging ? { expirationTime } : isTimed ? { timePartitioning: { type: 'DAY', field: 'timestamp' } } : {}),
      },
      signal,
    )
    if (answer.status !== alreadyThere) this.mustSucceed(answer) // of a request that was repeated
  }

  async addColumns(table: string, columns: readonly ExportColumn[], found: readonly FieldOfTable[], signal: AbortSignal): Promise<void> {
    const names = new Set(found.map(({ name }) => name.toLowerCase()))
    const missing = columns.filter(({ name }) => !names.has(name.toLowerCase()))
    if (missing.length === 0) return
    const added = missing.map((column) => ({ name: column.name, type: typeOf(column, this.settings.use_json_type), mode: 'NULLABLE' }))
    await this.call('PATCH', `${this.dataset}/tables/${table}`, { schema: { fields: [...found, ...added] } }, signal)
  }

  async deleteTable(table: string, signal: AbortSignal): Promise<void> {
    const answer = await this.request('DELETE', `${this.dataset}/tables/${table}`, undefined, signal)
    if (answer.status !== 404) this.mustSucceed(answer)
  }

  /** Uploads a file in parts, and waits until it is loaded. */
  async loadFile(job: object, path: string, bytes: number, signal: AbortSignal): Promise<void> {
    const headers = { 'x-upload-content-type': 'application/octet-stream', 'x-upload-content-length': String(bytes) }
    const begun = await this.authorized(
      {
        method: 'POST',
        url: `${this.at}/upload/bigquery/v2/projects/${this.settings.project_id}/jobs?uploadType=resumable`,
        headers,
        body: job,
      },
      signal,
    )
    this.mustSucceed(begun)
    const url = String(begun.headers.location)
    const file = await open(path)
    try {
      for (let start = 0; ; ) {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(Math.min(uploadBytes, bytes - start)), 0, undefined, start)
        const end = start + bytesRead
        const range = { 'content-range': `bytes ${start}-${end - 1}/${bytes}`, 'content-type': 'application/octet-stream' }
        const answer = await this.authorized({ method: 'PUT', url, headers: range, body: buffer.subarray(0, bytesRead) }, signal)
        if (end < bytes && answer.status === 308) {
          start = nextByte(answer, end)
          continue
        }
        return await this.finished(this.mustSucceed(answer), signal)
      }
    } finally {
      await file.close()
    }
  }

  async query(jobId: string, sql: string, signal: AbortSignal): Promise<void> {
    const answer = await this.startQuery(jobId, sql, signal)
    const isRepeated = answer.status === alreadyThere
    await this.finished(isRepeated ? { jobReference: this.jobReference(jobId) } : this.mustSucceed(answer), signal)
  }

  /** The id of a job is taken once: a second attempt of a run finds the job of the first. */
  async queryOnce(jobId: string, sql: string, signal: AbortSignal): Promise<void> {
    for (let n = 1; ; n++) {
      const id = `${jobId}_${n}`
      const answer = await this.startQuery(id, sql, signal)
      if (answer.status !== alreadyThere) return this.finished(this.mustSucceed(answer), signal)
      const earlier = await this.finished({ jobReference: this.jobReference(id) }, signal).then(
        () => null,
        (error: unknown) => error,
      )
      if (!earlier) return
      if (!(earlier instanceof DestinationError)) throw earlier
    }
  }

  async call(
    method: ApiRequest['method'],
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.mustSucceed(await this.request(method, path, body, signal))
  }

  private startQuery(jobId: string, sql: string, signal: AbortSignal): Promise<ApiAnswer> {
    const configuration = { query: { query: sql, useLegacySql: false } }
    return this.request(
      'POST',
      `/projects/${this.settings.project_id}/jobs`,
      { configuration, jobReference: this.jobReference(jobId) },
      signal,
    )
  }

  private async finished(job: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
    const { jobId, location } = job.jobReference as { jobId: string; location?: string }
    const path = `/projects/${this.settings.project_id}/jobs/${jobId}${location ? `?location=${location}` : ''}`
    const status = await this.api.poll(async () => {
      const found = (await this.call('GET', path, undefined, signal)).status as JobStatus
      return found.state === 'DONE' ? found : null
    }, signal)
    if (status.errorResult) throw jobFailure(status)
  }

  private request(method: ApiRequest['method'], path: string, body: object | undefined, signal: AbortSignal): Promise<ApiAnswer> {
    return this.authorized({ method, url: `${this.at}/bigquery/v2${path}`, ...(body ? { body } : {}) }, signal)
  }

  private async authorized(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const headers = { ...request.headers, authorization: `Bearer ${await this.accessToken(signal)}` }
    return this.api.send({ ...request, headers }, signal)
  }

  private async accessToken(signal: AbortSignal): Promise<string> {
    const seconds = Math.floor(this.outside.clock().getTime() / 1000)
    if (this.token && this.token.until > seconds) return this.token.value
    const { client_email, private_key, private_key_id, token_uri } = this.settings
    if (!URL.canParse(token_uri))
      throw refused(`token_uri must be a URL such as https://oauth2.googleapis.com/token, but is "${token_uri}".`)
    const claims = { iss: client_email, scope, aud: token_uri, iat: seconds, exp: seconds + 3600 }
    const assertion = signedToken({ kid: private_key_id }, claims, pemOf(private_key), 'private_key')
    const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const {
      status,
      json,
      text: said,
    } = await this.api.send({ method: 'POST', url: token_uri, headers, body: Buffer.from(form.toString()) }, signal)
    if (status !== 200 || typeof json?.access_token !== 'string') {
      const reason = String(json?.error_description ?? json?.error ?? said.slice(0, 200)).replace(/\.$/, '')
      throw new DestinationError(
        `Google refuses the key of ${client_email}: ${reason}. Check private_key, private_key_id and client_email.`,
        {
          isRetryable: status >= 500,
        },
      )
    }
    this.token = { value: json.access_token, until: seconds + Number(json.expires_in ?? 3600) - 60 }
    return this.token.value
  }

  private mustSucceed(answer: ApiAnswer): Readonly<Record<string, unknown>> {
    const { status, json } = answer
    if (status >= 200 && status < 300) return json ?? {}
    const error = isObject(json?.error) ? json.error : {}
    const [{ reason = '' } = {}] = (error.errors as readonly { reason?: string }[] | undefined) ?? []
    const said = typeof error.message === 'string' ? error.message : `status ${status}`
    throw new DestinationError(`BigQuery answered ${status}: ${said}${adviceFor(status, reason, this.settings)}`, {
      isRetryable: status >= 500 || status === 429 || status === 408 || retriedReasons.has(reason),
    })
  }
}

const alreadyThere = 409

interface JobStatus {
  readonly state: string
  readonly errorResult?: { readonly reason?: string; readonly message?: string; readonly location?: string }
  readonly errors?: readonly { readonly message?: string }[]
}

const refused = (message: string) => new DestinationError(message, { isRetryable: false })
const retriedReasons = new Set([
  'backendError',
  'internalError',
  'rateLimitExceeded',
  'jobRateLimitExceeded',
  'quotaExceeded',
  'stopped',
  'jobBackendError',
])

function adviceFor(status: number, reason: string, { project_id, dataset_id, client_email }: Config): string {
  if (status === 404) return ` Check project_id (${project_id}) and dataset_id (${dataset_id}).`
  if (reason === 'quotaExceeded' || reason === 'rateLimitExceeded') return ' The run is retried.'
  if (status === 401 || status === 403)
    return ` Give ${client_email} the roles BigQuery Data Editor on the dataset and BigQuery Job User on the project.`
  return ''
}

function jobFailure({ errorResult, errors = [] }: JobStatus): DestinationError {
  const details = errors.map(({ message }) => message).filter((message) => message && message !== errorResult!.message)
  const message = `BigQuery could not take the rows: ${[errorResult!.message, ...details.slice(0, 2)].join(' ')}`
  return new DestinationError(message, { isRetryable: retriedReasons.has(errorResult!.reason ?? '') })
}

/** A server may have kept less than it was sent: `Range: bytes=0-<last>`. */
const nextByte = ({ headers }: ApiAnswer, sent: number): number => {
  const last = /-(\d+)$/.exec(String(headers.range ?? ''))?.[1]
  return last === undefined ? sent : Number(last) + 1
}
