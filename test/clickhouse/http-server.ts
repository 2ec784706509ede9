import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Deferred, deferred } from '../../src/lib/flow/deferred.ts'
import { openStatements, type Shards, testShards } from './chdb.ts'
import { readForm } from './multipart.ts'

// The part of ClickHouse's HTTP interface that clients use, in front of the ClickHouse inside this process: statements in the body, in `query` or in a
// form; parameters, settings and the database in the URL; users, compression, errors with their code, KILL QUERY. It can fail as servers and networks do.

/** A statement that a client sent. */
export interface Received {
  readonly id: string
  readonly query: string
  readonly settings: Readonly<Record<string, string>>
  readonly isMultipart: boolean
  /** Bytes of the request line. */
  readonly urlBytes: number
}

export type Fault =
  /** The connection breaks before the statement is carried out. */
  | { readonly kind: 'cut' }
  /** The connection breaks when so much of the rows of an INSERT is in the table. */
  | { readonly kind: 'cut-within'; readonly share: number }
  /** The statement is carried out, and the answer does not arrive. */
  | { readonly kind: 'cut-after' }
  /** The connection breaks at once, and the statement is carried out when `until` resolves, unless it is killed before. */
  | { readonly kind: 'late'; readonly until: Promise<unknown> }
  /** Nothing happens until `until` resolves. */
  | { readonly kind: 'slow'; readonly until: Promise<unknown> }
  /** The rest of the answer comes when `until` resolves. */
  | { readonly kind: 'slow-answer'; readonly bytes: number; readonly until: Promise<unknown> }
  /** The answer ends after so many bytes, with this text behind them. */
  | { readonly kind: 'broken-answer'; readonly bytes: number; readonly text: string; readonly isCut: boolean }
  /** The server refuses the statement. */
  | { readonly kind: 'refusal'; readonly code: number; readonly text: string }
  /** What is answered is not ClickHouse's. */
  | { readonly kind: 'other'; readonly status: number; readonly text: string }

export interface ClickHouseHttpServer {
  /** With the user and the password. */
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  /** Statements that are being carried out or wait for it. */
  readonly running: number
  /** Asked for each statement. */
  fault: ((received: Received) => Fault | null) | null
  /** All connections break, and new ones are refused. */
  stop(): Promise<void>
  /** Listens on the same port again. */
  start(): Promise<void>
  close(): Promise<void>
}

interface Running {
  readonly id: string
  readonly killed: Deferred<void>
  readonly ended: Deferred<void>
}

const user = { name: 'waymark', password: 'p@ss word' } as const
/** Defaults of the server. */
const limits = { uriBytes: 1_048_576, fieldBytes: 131_072 } as const
const killedError = 'Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED) (version 26.1.1.1 (official build))\n'
const pieceBytes = 65_536

/** One per process, as the ClickHouse inside it. `path`: where its data are; default: in memory. `givenPort`: 0 picks a free one. */
export async function startClickHouseServer(
  path?: string,
  givenPort = 0,
  shards: Shards | null = testShards,
): Promise<ClickHouseHttpServer> {
  const statements = await openStatements(path, shards)
  const received: Received[] = []
  const running = new Set<Running>()
  let server: Server | null = null
  let port = givenPort

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, 'http://localhost')
    if (url.pathname === '/ping') return void response.end('Ok.\n')
    const given = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
    if (given !== `${user.name}:${user.password}`)
      return refuse(
        response,
        `Code: 516. DB::Exception: ${given.split(':')[0]}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED) (version 26.1.1.1 (official build))`,
      )
    if (Buffer.byteLength(request.url!) > limits.uriBytes) return void response.writeHead(414).end()
    const isMultipart = request.headers['content-type']?.startsWith('multipart/form-data') === true
    const ended = new Promise<void>((resolve) => response.once('close', resolve))
    const body = await bodyOf(request)
    if (body === null) return // the client left in the middle
    if (isMultipart && request.headers['content-encoding'])
      return refuse(response, 'Code: 33. DB::Exception: No boundary line found. (CANNOT_READ_ALL_DATA)')
    const fields = isMultipart ? readForm(body, request.headers['content-type']!) : []
    const all = [...url.searchParams, ...fields]
    if (all.some(([, value]) => Buffer.byteLength(value) > limits.fieldBytes))
      return refuse(
        response,
        'Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field value too long (version 26.1.1.1 (official build))',
      )
    const params: Record<string, string> = {}
    const settings: Record<string, string> = {}
    for (const [name, value] of all)
      if (name.startsWith('param_')) params[name.slice(6)] = value
      else if (!own.has(name)) settings[name] = value
    const written = all.flatMap(([name, value]) => (name === 'query' ? [value] : []))
    const query = isMultipart ? written.join('') : [...written, body.toString()].join('\n')
    const about: Received = {
      id: url.searchParams.get('query_id') ?? '',
      query: isMultipart ? query : written.length > 0 ? written.join('') : query,
      settings,
      isMultipart,
      urlBytes: request.url!.length,
    }
    received.push(about)
    const one: Running = { id: about.id, killed: deferred(), ended: deferred() }
    const kill = /^KILL QUERY WHERE (.*?) (SYNC|ASYNC)$/s.exec(query.trim())
    if (kill) return void response.end(await killThose(kill[1]!, kill[2] === 'SYNC'))
    running.add(one)
    try {
      await carryOut(one, about, query, params, { request, response, ended, database: url.searchParams.get('database') })
    } finally {
      running.delete(one)
      one.ended.resolve()
    }
  }

  const killThose = async (condition: string, isSync: boolean): Promise<string> => {
    const match =
      /^query_id = '([^']*)'$/.exec(condition) ??
      /^startsWith\(query_id, '([^']*)'\) AND current_database = currentDatabase\(\)$/.exec(condition)
    if (!match) throw new Error(`KILL QUERY with a condition that is not known here: ${condition}`)
    const found = [...running].filter(({ id }) => (condition.startsWith('starts') ? id.startsWith(match[1]!) : id === match[1]))
    for (const { killed } of found) killed.resolve()
    if (isSync) await Promise.all(found.map(({ ended }) => ended.promise))
    return found.map(({ id }) => `waiting\t${id}\n`).join('')
  }

  const carryOut = async (
    one: Running,
    about: Received,
    query: string,
    params: Readonly<Record<string, string>>,
    {
      response,
      request,
      ended,
      database,
    }: { request: IncomingMessage; response: ServerResponse; ended: Promise<void>; database: string | null },
  ): Promise<void> => {
    const fault = fake.fault?.(about) ?? null
    const cut = () => void request.socket.destroy()
    const run = (text = query) => statements.run(text, { params, settings: about.settings, database: database ?? 'default' })
    const isKilled = async (until: Promise<unknown>) =>
      (await Promise.race([until.then(() => 'done'), one.killed.promise.then(() => 'killed')])) === 'killed'
    switch (fault?.kind) {
      case 'cut':
        return cut()
      case 'cut-within': {
        const lines = query.split('\n')
        await run([lines[0], ...lines.slice(1, 1 + Math.floor((lines.length - 1) * fault.share))].join('\n'))
        return cut()
      }
      case 'cut-after':
        await run()
        return cut()
      case 'late':
        cut()
        if (!(await isKilled(fault.until))) await run()
        return
      case 'slow':
        if (await isKilled(Promise.race([fault.until, ended]))) return refuse(response, killedError)
        break
      case 'refusal':
        return refuse(response, `Code: ${fault.code}. DB::Exception: ${fault.text} (version 26.1.1.1 (official build))`)
      case 'other':
        return void response.writeHead(fault.status, { 'content-type': 'text/html' }).end(fault.text)
    }
    let bytes: Buffer
    try {
      bytes = await run()
    } catch (error) {
      return refuse(response, `${error instanceof Error ? error.message : error} (version 26.1.1.1 (official build))`)
    }
    const isPacked = about.settings.enable_http_compression === '1' && /gzip/.test(String(request.headers['accept-encoding']))
    if (isPacked) response.setHeader('content-encoding', 'gzip')
    response.setHeader('x-clickhouse-query-id', about.id)
    response.setHeader('x-clickhouse-summary', '{"read_rows":"0","read_bytes":"0","written_rows":"0","written_bytes":"0"}')
    if (fault?.kind === 'slow-answer') {
      response.write(bytes.subarray(0, fault.bytes))
      await Promise.race([fault.until, ended, one.killed.promise])
      return void response.end(bytes.subarray(fault.bytes))
    }
    if (fault?.kind === 'broken-answer') {
      response.write(bytes.subarray(0, fault.bytes))
      response.write(fault.text)
      await new Promise((resolve) => setImmediate(resolve))
      return void (fault.isCut ? setTimeout(cut, 20) : response.end())
    }
    if (isPacked) return void response.end(gzipSync(bytes))
    for (let at = 0; at < bytes.length && !response.destroyed; at += pieceBytes) {
      if (!response.write(bytes.subarray(at, at + pieceBytes)))
        await Promise.race([new Promise((resolve) => response.once('drain', resolve)), ended, one.killed.promise])
    }
    response.end()
  }

  const fake: ClickHouseHttpServer = {
    get url() {
      return `http://${user.name}:${encodeURIComponent(user.password)}@127.0.0.1:${port}`
    },
    get port() {
      return port
    },
    received,
    get running() {
      return running.size
    },
    fault: null,
    async stop() {
      const old = server
      server = null
      if (!old) return
      old.closeAllConnections()
      await new Promise((resolve) => old.close(resolve))
    },
    async start() {
      server = createServer({ maxHeaderSize: 4 * 1024 ** 2, keepAliveTimeout: 10_000 }, (request, response) => {
        answer(request, response).catch((error: unknown) => {
          if (!response.headersSent) response.writeHead(500)
          response.end(String(error))
        })
      })
      await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve))
      port = (server.address() as AddressInfo).port
    },
    async close() {
      await fake.stop()
      await statements.close()
    },
  }
  await fake.start()
  return fake
}

/** What is in the URL besides settings. */
const own = new Set(['query', 'query_id', 'database', 'session_id', 'role'])

const statusOf = (code: number): number => (code === 516 ? 403 : code === 60 || code === 46 || code === 47 ? 404 : code === 62 ? 400 : 500)

function refuse(response: ServerResponse, text: string): void {
  const code = Number(/Code: (\d+)/.exec(text)?.[1] ?? 1000)
  response.writeHead(statusOf(code), { 'x-clickhouse-exception-code': String(code) }).end(text.endsWith('\n') ? text : `${text}\n`)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return null
  }
  const bytes = Buffer.concat(chunks)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
}
