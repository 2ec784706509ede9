import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { serve } from '@hono/node-server'
import { WaymarkError } from '../../../errors/errors.ts'
import { otherLimits } from '../../../limits/limits.ts'

export interface ServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** The longest time that a client may take to send a request. */
  readonly bodyTimeoutMs?: number
  /** Further connections are closed at once. */
  readonly connections?: number
}
export interface RunningServer {
  readonly url: string
  /** The number of open requests. */
  readonly running: number
  /** Accepts no new requests, waits for running ones, and closes idle connections. */
  drain(withinMs?: number): Promise<void>
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user has no permission to use the port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'unknown host',
}

export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** The address of a connection; an IPv4 address as such, also on an IPv6 socket. */
export const addressOf = ({ incoming }: Exchange): string | null =>
  incoming.socket.remoteAddress?.replace(/^::ffff:([\d.]+)$/, '$1') ?? null

export const startServer = (
  handler: (request: Request, address: string | null, cut: () => void) => Promise<Response>,
  { host, port, bodyTimeoutMs = 120_000, connections = otherLimits.connections.number }: ServerOptions,
): Promise<RunningServer> =>
  new Promise((resolve, reject) => {
    let isDraining = false
    let running = 0
    const server = serve({
      fetch: (request, env) => {
        running++
        ;(env as Exchange).outgoing.once('close', () => running--)
        // A keep-alive connection would bring the next request.
        if (isDraining) (env as Exchange).outgoing.setHeader('connection', 'close')
        return handler(request, addressOf(env as Exchange), () => (env as Exchange).outgoing.destroy())
      },
      hostname: host,
      port,
      serverOptions: {
        headersTimeout: Math.min(20_000, bodyTimeoutMs),
        requestTimeout: bodyTimeoutMs,
        connectionsCheckingInterval: Math.min(30_000, bodyTimeoutMs),
        // Longer than the keep-alive of load balancers, usually a minute: if the server closed first, a request could already be on its way.
        keepAliveTimeout: 75_000,
        maxHeaderSize: 32 * 1024,
      },
    }) as Server
    server.maxConnections = connections
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new WaymarkError('cannot-listen', { host, port, reason: reasons[error.code ?? ''] ?? error.message }, { cause: error })),
    )
    server.once('listening', () => {
      const address = server.address()
      const taken = typeof address === 'object' && address ? address.port : port
      const shown = host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host
      resolve({
        url: `http://${shown}:${taken}`,
        get running() {
          return running
        },
        drain: (withinMs = 30_000) =>
          new Promise((done) => {
            isDraining = true
            const late = setTimeout(() => server.closeAllConnections(), withinMs)
            server.close(() => {
              clearTimeout(late)
              done()
            })
            server.closeIdleConnections()
          }),
      })
    })
  })
