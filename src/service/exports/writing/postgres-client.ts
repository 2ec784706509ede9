import type { EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import type { Client } from 'pg'
import { isHostName } from '../../../lib/web/web-address.ts'
import { flag, integer, text } from '../../accounts/fields.ts'
import { DestinationError, discardMs, type Outside, usualLimits } from '../destinations/destination.ts'
import { lateAnswer, mostAnswerBytes, tooLongAnswer } from './answer-limits.ts'
import { networkFailure } from './network-failure.ts'
import { optionalPackage } from './optional-package.ts'
import { copyFile } from './postgres-copy.ts'

// Connections to servers with the protocol of PostgreSQL, through the package pg.

export interface PostgresServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  readonly has_self_signed_cert: boolean
}

export interface PostgresConnection {
  /** All rows, each an object. Aborting closes the connection. `mayTakeLong`: for statements over many rows, which have an hour. */
  query<Row = Record<string, unknown>>(
    sql: string,
    params: readonly unknown[],
    signal: AbortSignal,
    mayTakeLong?: boolean,
  ): Promise<readonly Row[]>
  /** Sends a file as the input of `COPY … FROM STDIN`. */
  copyFrom(sql: string, path: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Not a path: pg would connect to a socket of this machine. */
const hostName = () => text().refine(isHostName, { error: 'Enter a host name or an address.' })

/** The settings of a table on such a server. */
export const tableSettings = (usualPort: number) => ({
  user: text(),
  password: text(),
  host: hostName(),
  port: integer(1, 65_535)
    .nullish()
    .transform((port) => port ?? usualPort),
  database: text(),
  schema: text()
    .nullish()
    .transform((name) => name ?? 'public'),
  table_name: text()
    .nullish()
    .transform((name) => name ?? 'events'),
  has_self_signed_cert: flag()
    .nullish()
    .transform((is) => is ?? false),
})

type Pg = { readonly default: { readonly Client: typeof Client } }

const connectMs = 15_000
/** Times the limit for silence: a statement over many rows says nothing until its end. */
const longStatement = 60

/** `name`: of the product, for messages. */
export async function connectPostgres(
  server: PostgresServer,
  name: string,
  outside: Outside,
  signal: AbortSignal,
): Promise<PostgresConnection> {
  const what = `${name} at ${server.host}:${server.port}`
  const { silentMs } = outside.limits ?? usualLimits
  outside.mustBeAllowed(server.host)
  const { default: pg } = await optionalPackage<Pg>('pg', `Exports to ${name}`)
  const connect = async (ssl: false | { readonly rejectUnauthorized: boolean }) => {
    const { has_self_signed_cert: _, ...where } = server
    const stream = () => guardedSocket(outside)
    const client = new pg.Client({
      ...where,
      ssl,
      stream,
      connectionTimeoutMillis: Math.min(connectMs, silentMs),
      keepAlive: true,
      application_name: 'waymark',
    })
    client.on('error', () => undefined) // the next query rejects
    const answers = limitedAnswers(client, what, ssl !== false)
    await untilAborted(client, signal, () => client.connect())
    return { client, answers }
  }
  const failed = (error: unknown) => failureOf(error, what, server)
  const { client, answers } = await connect({ rejectUnauthorized: !server.has_self_signed_cert }).catch((error: unknown) => {
    const isPlain = /does not support SSL/.test(String(error)) && !server.has_self_signed_cert
    if (isPlain) return connect(false).catch((second: unknown) => Promise.reject(failed(second)))
    throw failed(error)
  })
  const run = async <T>(sent: AbortSignal, ms: number, work: (isAnswering: () => void) => Promise<T>): Promise<T> => {
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(lateAnswer(what, ms)), ms)
    answers.begin()
    try {
      return await untilAborted(client, AbortSignal.any([sent, silence.signal]), () => work(() => void timer.refresh()))
    } catch (error) {
      sent.throwIfAborted()
      silence.signal.throwIfAborted()
      throw failed(error)
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    query: <Row>(sql: string, params: readonly unknown[], sent: AbortSignal, mayTakeLong = false) =>
      run(sent, mayTakeLong ? silentMs * longStatement : silentMs, async () => (await client.query(sql, [...params])).rows as Row[]),
    copyFrom: (sql, path, sent) => run(sent, silentMs, (isAnswering) => copyFile(client, sql, path, isAnswering)),
    async close() {
      const timer = setTimeout(() => cut(client), Math.min(silentMs, discardMs))
      await client.end().catch(() => undefined)
      clearTimeout(timer)
    },
  }
}

const connectionOf = (client: Client) => (client as unknown as { connection: EventEmitter & { readonly stream: Socket } }).connection
const cut = (client: Client, error?: DestinationError) => connectionOf(client).stream.destroy(error)

/** pg keeps a whole message, and all rows of an answer. Notices are dropped one by one: a trigger may send one for each row. */
function limitedAnswers(client: Client, what: string, isEncrypted: boolean): { begin(): void } {
  const connection = connectionOf(client)
  let bytes = 0
  const begin = () => {
    bytes = 0
  }
  connection.on('notice', begin)
  // Before that, the stream is not the one that is decrypted.
  connection.once(isEncrypted ? 'sslconnect' : 'connect', () => {
    connection.stream.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > mostAnswerBytes) cut(client, tooLongAnswer(what))
    })
  })
  return { begin }
}

/** An aborted call closes the connection: the server then stops its statement and rolls back. */
async function untilAborted<T>(client: Client, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const stop = () => cut(client)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await work()
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** pg connects a socket by port and host; names are resolved by the lookup of the server's owner. */
function guardedSocket({ lookup }: Outside): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket) as (options: object) => Socket
  socket.connect = ((port: number, host: string) => connect({ port, host, lookup })) as Socket['connect']
  return socket
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

interface ServerError {
  readonly code?: string
  readonly detail?: string
  readonly where?: string
  readonly message: string
}

type Words = (server: PostgresServer) => string
const words: Readonly<Record<string, Words>> = {
  '28P01': ({ user }) => `refuses the password of the user ${user}. Check user and password.`,
  '28000': ({ user }) => `refuses the user ${user}. Check the user, and that the server accepts connections from here.`,
  '3D000': ({ database }) => `has no database ${database}. Create it, or change database.`,
}
const wordsRetried: Readonly<Record<string, string>> = {
  '25P03': 'ended the connection, because the run was idle for too long between two files.',
  '40P01': 'stopped the run: it and another transaction waited for each other (deadlock).',
  '53100': 'has no disk space left. Free some space; the run is retried.',
  '53200': 'has no memory left.',
  '53300': 'has too many connections.',
  '55P03': 'has a transaction that locks the table or some of its rows.',
  '57014': 'stopped a statement of the run: by its statement_timeout, or an administrator.',
  '57P01': 'was shut down during the run.',
  '57P02': 'was shut down during the run.',
  '57P03': 'is starting up or shutting down.',
}
/** Classes of errors that another attempt may not meet: connections, conflicts between transactions, resources, interventions. */
const isRetried = (code: string) => /^(08|40|53|55|57|58)/.test(code)

/** The code and constraint of the error of a server. */
export const serverError = (error: unknown): { readonly code?: string; readonly constraint?: string } =>
  error instanceof DestinationError && typeof error.cause === 'object' && error.cause !== null ? error.cause : {}

function failureOf(error: unknown, what: string, server: PostgresServer): unknown {
  if (error instanceof DestinationError) return error
  const lost = networkFailure(error, what)
  if (lost) return lost
  const { code, message, detail, where } = error as ServerError
  const refused = (text: string, isRetryable: boolean) => new DestinationError(text, { isRetryable, cause: error })
  if (code && code in words) return refused(`${what} ${words[code]!(server)}`, false)
  if (code && code in wordsRetried) return refused(`${what} ${wordsRetried[code]}`, true)
  if (code && /^[0-9A-Z]{5}$/.test(code)) {
    const more = [detail, where?.split('\n')[0]].filter(Boolean).join(' ')
    return refused(`${what} refused the rows: ${message}.${more ? ` ${more}` : ''}`, isRetried(code))
  }
  if (/Connection terminated|connection error|timeout/i.test(message))
    return refused(`${what} closed the connection or did not answer in time.`, true)
  if (/does not support SSL/.test(message))
    return refused(`${what} does not support TLS. Set has_self_signed_cert to false to connect without it.`, false)
  return error
}

/** Closes the connection after the work. */
export async function withPostgres(
  server: PostgresServer,
  name: string,
  outside: Outside,
  signal: AbortSignal,
  work: (connection: PostgresConnection) => Promise<void>,
): Promise<void> {
  const connection = await connectPostgres(server, name, outside, signal)
  try {
    await work(connection)
  } finally {
    await connection.close()
  }
}
