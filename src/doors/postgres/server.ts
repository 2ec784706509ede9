import { createHash } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { WaymarkError } from '../../errors/errors.ts'
import { CatalogEngines } from './catalog/catalog-engine.ts'
import { loadTables } from './catalog/project-tables.ts'
import { type Cancellable, Connection, type Shared } from './session/connection.ts'
import { Holdings } from './session/holdings.ts'
import type { Api, Send } from './session/project.ts'
import { SqlError } from './statements/sql-error.ts'
import type { ProjectTables } from './translation/tables.ts'
import { Outgoing } from './wire/outgoing.ts'

/** Connections at the same time, and of them those whose client is not known yet. */
const connectionLimits = { all: 200, unknown: 50 }
/** How long what tables a project has is kept, and of how many projects and keys. */
const tablesMs = 60_000
const mostTables = 50

export interface PostgresOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly send: Send
  /** In PEM; null: without TLS, for clients of this machine only. */
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | null
  readonly onError: (error: unknown) => void
  readonly limits?: Partial<typeof connectionLimits>
  /** Bytes that all connections may hold. */
  readonly memory?: number
}

export interface PostgresServer {
  readonly port: number
  /** Ends all connections; statements that run are cancelled. */
  close(): Promise<void>
}

/** The tables of a project as a key sees them, read again after a minute. */
function keptTables(): Shared['tablesOf'] {
  const kept = new Map<string, { readonly at: number; readonly tables: Promise<ProjectTables> }>()
  return (api: Api, project: number) => {
    const name = `${project} ${createHash('sha256').update(api.key).digest('base64')}`
    const known = kept.get(name)
    if (known && Date.now() - known.at < tablesMs) return known.tables
    const tables = loadTables(api, project)
    kept.delete(name)
    kept.set(name, { at: Date.now(), tables })
    tables.catch(() => kept.delete(name))
    for (const [oldest] of kept) if (kept.size > mostTables) kept.delete(oldest)
    return tables
  }
}

/** Clients of PostgreSQL, on a port of their own. */
export async function startPostgres({ host, port, send, tls, onError, limits, memory }: PostgresOptions): Promise<PostgresServer> {
  const { all, unknown } = { ...connectionLimits, ...limits }
  const cancellable = new Map<number, Cancellable>()
  const sockets = new Set<Socket>()
  let strangers = 0
  let lastProcess = 0
  const shared = {
    send,
    tls: tls && createSecureContext({ ...tls, minVersion: 'TLSv1.2' }),
    catalogs: new CatalogEngines(),
    tablesOf: keptTables(),
    cancellable,
    holdings: new Holdings(memory),
    onError,
  }
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    if (sockets.size > all || strangers >= unknown) return tooMany(socket)
    strangers++
    let isStranger = true
    const onKnown = () => {
      if (isStranger) strangers--
      isStranger = false
    }
    const process = nextProcess()
    const connection = new Connection(socket, process, { ...shared, onKnown })
    connection.serve().catch(onError).finally(onKnown)
  })
  const nextProcess = (): number => {
    do lastProcess = (lastProcess % 2_000_000_000) + 1
    while (cancellable.has(lastProcess))
    return lastProcess
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new WaymarkError('cannot-listen', { host, port, reason: error.message }, { cause: error })))
    server.listen({ host, port }, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const { cancel } of cancellable.values()) cancel()
      for (const socket of sockets) socket.destroy()
      await closed
      shared.catalogs.close()
    },
  }
}

function tooMany(socket: Socket): void {
  const out = new Outgoing(socket)
  const { state, message } = new SqlError('53300', 'sorry, too many clients already')
  out.report('E', { S: 'FATAL', V: 'FATAL', C: state, M: message })
  void out.flush().then(() => socket.destroySoon())
}
