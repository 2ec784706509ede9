import { createVerify, generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

// A server that answers as BigQuery's documentation shows, and refuses what it does not: unknown paths, wrong tokens, rows that do not fit their schema.

interface Field {
  readonly name: string
  readonly type: string
}
interface Table {
  fields: Field[]
  rows: Record<string, unknown>[]
}
interface Job {
  polls: number
  readonly location: string
  error?: object
}

export interface FakeBigQuery {
  readonly origin: string
  readonly privateKey: string
  readonly tables: Map<string, Table>
  readonly requests: string[]
  readonly statements: string[]
  readonly tokens: number
  /** Answers the next request to a path with this instead. */
  fail(match: RegExp, answer: { status: number; body?: object } | 'drop', times?: number): void
  close(): Promise<void>
}

const project = 'shop-project'
const dataset = 'analytics'

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  STRING: (value) => typeof value === 'string',
  INT64: (value) => Number.isInteger(value),
  FLOAT64: (value) => typeof value === 'number',
  BOOL: (value) => typeof value === 'boolean',
  TIMESTAMP: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value),
  DATE: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  JSON: () => true,
}

export async function startBigQuery(): Promise<FakeBigQuery> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const tables = new Map<string, Table>()
  const jobs = new Map<string, Job>()
  const uploads = new Map<
    string,
    {
      job: { configuration: { load: { destinationTable: { tableId: string } } }; jobReference: { jobId: string } }
      size: number
      bytes: Buffer
    }
  >()
  const [requests, statements]: [string[], string[]] = [[], []]
  const faults: { match: RegExp; answer: { status: number; body?: object } | 'drop'; times: number }[] = []
  let tokens = 0
  const failure = (status: number, reason: string, message: string) => ({
    status,
    body: { error: { code: status, message, errors: [{ reason, message }] } },
  })

  const token = (form: URLSearchParams) => {
    const [head, claims, signature] = String(form.get('assertion')).split('.')
    const isSigned = createVerify('RSA-SHA256')
      .update(`${head}.${claims}`)
      .verify(publicKey, Buffer.from(signature ?? '', 'base64url'))
    const read = (part?: string) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString())
    const { iss, aud, scope, exp, iat } = read(claims)
    const isRight =
      isSigned &&
      read(head).kid === 'key-1' &&
      iss === 'exports@shop' &&
      aud === `${origin}/token` &&
      /auth\/bigquery$/.test(scope) &&
      exp - iat === 3600
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer' || !isRight)
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }
    tokens++
    return { status: 200, body: { access_token: 'ya29.test', expires_in: 3599, token_type: 'Bearer' } }
  }

  const load = (tableId: string, bytes: Buffer): object | undefined => {
    const table = tables.get(tableId)
    if (!table) return { reason: 'notFound', message: `Not found: Table ${tableId}` }
    for (const line of bytes.toString().trimEnd().split('\n')) {
      const row = JSON.parse(line) as Record<string, unknown>
      for (const [name, value] of Object.entries(row)) {
        const field = table.fields.find((one) => one.name === name)
        if (!field) return { reason: 'invalid', message: `No such field: ${name}.` }
        if (value !== null && !fits[field.type]!(value))
          return { reason: 'invalid', message: `Could not convert value to ${field.type}. Field: ${name}; Value: ${JSON.stringify(value)}` }
      }
      table.rows.push(row)
    }
    return undefined
  }

  const query = (sql: string): object | undefined => {
    statements.push(sql)
    const named = [...sql.matchAll(/`shop-project\.analytics\.([\w]+)`/g)].map(([, name]) => name!)
    const [target, staging] = [tables.get(named[0]!), tables.get(named[1]!)]
    if (!target || !staging) return { reason: 'notFound', message: 'Not found: Table' }
    const shown = staging.rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value !== null && target.fields.find((one) => one.name === name)?.type === 'STRING' && typeof value !== 'string'
            ? JSON.stringify(value)
            : value,
        ]),
      ),
    )
    if (sql.startsWith('INSERT')) target.rows.push(...shown)
    else {
      const key = /ON old\.`(\w+)` = new\.`\w+`/.exec(sql)![1]!
      const merged = new Map([...target.rows, ...shown].map((row) => [row[key], row]))
      target.rows = [...merged.values()]
    }
    return undefined
  }

  const begin = (jobId: string, location: string, error?: object) => {
    jobs.set(jobId, { polls: 0, location, ...(error ? { error } : {}) })
    return { status: 200, body: { jobReference: { projectId: project, jobId, location }, status: { state: 'RUNNING' } } }
  }

  const api = (method: string, path: string, query_: URLSearchParams, body: Record<string, never>) => {
    const table = new RegExp(`^/projects/${project}/datasets/${dataset}/tables/([\\w]+)$`).exec(path)?.[1]
    if (method === 'GET' && path === `/projects/${project}/datasets`) return { status: 200, body: { datasets: [] } }
    if (path.startsWith('/projects/') && !path.startsWith(`/projects/${project}`)) return failure(404, 'notFound', 'Not found: Project')
    if (path.includes('/datasets/') && !path.includes(`/datasets/${dataset}`)) return failure(404, 'notFound', 'Not found: Dataset')
    if (method === 'GET' && path === `/projects/${project}/datasets/${dataset}`) return { status: 200, body: { location: 'europe-west3' } }
    if (method === 'POST' && path === `/projects/${project}/datasets/${dataset}/tables`) {
      const { tableReference, schema } = body as unknown as { tableReference: { tableId: string }; schema: { fields: Field[] } }
      if (tables.has(tableReference.tableId)) return failure(409, 'duplicate', 'Already Exists: Table')
      if (!schema.fields.every(({ type }) => type in fits)) return failure(400, 'invalid', 'Invalid field type')
      tables.set(tableReference.tableId, { fields: schema.fields, rows: [] })
      return { status: 200, body: {} }
    }
    if (table && method === 'DELETE') return tables.delete(table) ? { status: 204 } : failure(404, 'notFound', 'Not found: Table')
    const found = table && tables.get(table)
    if (table && !found) return failure(404, 'notFound', 'Not found: Table')
    if (found && method === 'GET') return { status: 200, body: { schema: { fields: found.fields } } }
    if (found && method === 'PATCH') {
      const { schema } = body as unknown as { schema: { fields: Field[] } }
      if (!found.fields.every((field) => schema.fields.some(({ name, type }) => name === field.name && type === field.type)))
        return failure(400, 'invalid', 'Provided Schema does not match: a field is missing')
      found.fields = schema.fields
      return { status: 200, body: {} }
    }
    if (method === 'POST' && path === `/projects/${project}/jobs`) {
      const { configuration, jobReference } = body as unknown as {
        configuration: { query: { query: string; useLegacySql: boolean } }
        jobReference: { jobId: string; location: string }
      }
      if (jobs.has(jobReference.jobId)) return failure(409, 'duplicate', 'Already Exists: Job')
      if (configuration.query.useLegacySql !== false || jobReference.location !== 'europe-west3')
        return failure(400, 'invalid', 'Wrong job')
      return begin(jobReference.jobId, jobReference.location, query(configuration.query.query))
    }
    const jobId = new RegExp(`^/projects/${project}/jobs/([\\w-]+)$`).exec(path)?.[1]
    const job = jobId && jobs.get(jobId)
    if (method === 'GET' && job) {
      if (query_.get('location') !== job.location) return failure(404, 'notFound', 'Not found: Job')
      const state = job.polls++ === 0 ? 'RUNNING' : 'DONE'
      const status = { state, ...(state === 'DONE' && job.error ? { errorResult: job.error, errors: [job.error] } : {}) }
      return { status: 200, body: { jobReference: { jobId, location: job.location }, status } }
    }
    return failure(404, 'notFound', `Unknown request: ${method} ${path}`)
  }

  const upload = (request: IncomingMessage, url: URL, bytes: Buffer) => {
    if (request.method === 'POST') {
      if (url.searchParams.get('uploadType') !== 'resumable') return failure(400, 'invalid', 'Unknown upload type')
      const id = `u${uploads.size}`
      uploads.set(id, {
        job: JSON.parse(bytes.toString()),
        size: Number(request.headers['x-upload-content-length']),
        bytes: Buffer.alloc(0),
      })
      return {
        status: 200,
        headers: { location: `${origin}/upload/bigquery/v2/projects/${project}/jobs?uploadType=resumable&upload_id=${id}` },
      }
    }
    const open = uploads.get(url.searchParams.get('upload_id') ?? '')!
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(request.headers['content-range']))
    const [start, end, size] = range!.slice(1).map(Number) as [number, number, number]
    if (start !== open.bytes.length || end - start + 1 !== bytes.length || size !== open.size) return failure(400, 'invalid', 'Wrong range')
    // Only some of a part is kept at first.
    const kept = end + 1 < size ? bytes.subarray(0, Math.max(256 * 1024, bytes.length - 256 * 1024)) : bytes
    open.bytes = Buffer.concat([open.bytes, kept])
    if (open.bytes.length < size) return { status: 308, headers: { range: `bytes=0-${open.bytes.length - 1}` } }
    const { jobReference, configuration } = open.job
    return begin(jobReference.jobId, 'europe-west3', load(configuration.load.destinationTable.tableId, open.bytes))
  }

  const server = createServer(async (request, response) => {
    const bytes = await buffer(request)
    const url = new URL(request.url!, 'http://x')
    requests.push(`${request.method} ${url.pathname}`)
    const fault = faults.find(({ match, times }) => times > 0 && match.test(`${request.method} ${url.pathname}`))
    if (fault) fault.times--
    if (fault?.answer === 'drop') return void request.socket.destroy()
    const isKnown = request.headers.authorization === 'Bearer ya29.test'
    const answer: { status: number; body?: object; headers?: Record<string, string> } =
      (fault?.answer as { status: number }) ??
      (url.pathname === '/token'
        ? token(new URLSearchParams(bytes.toString()))
        : !isKnown
          ? failure(401, 'authError', 'Request had invalid authentication credentials.')
          : url.pathname === `/upload/bigquery/v2/projects/${project}/jobs`
            ? upload(request, url, bytes)
            : api(
                request.method!,
                decodeURIComponent(url.pathname.replace(/^\/bigquery\/v2/, '')),
                url.searchParams,
                bytes.length ? JSON.parse(bytes.toString()) : {},
              ))
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body ? JSON.stringify(answer.body) : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    tables,
    requests,
    statements,
    get tokens() {
      return tokens
    },
    fail: (match, answer, times = 1) => void faults.push({ match, answer, times }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
