import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Waymark } from '../../../waymark.ts'
import { failureBody, failureOf, failures } from '../errors.ts'
import { withBodyReadBefore } from '../requests/read-body.ts'
import { createUnmounted, type HandlerOptions } from './create-handler.ts'
import { belowMount, mountPath, redirectToMount } from './mount.ts'
import { addressOf, type Exchange } from './node-server.ts'

export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Call before `waymark.close()`: waits for async queries up to this time, then cancels them. */
  drain(withinMs?: number): Promise<void>
}

/** `authenticate` gets the request of Node, with all that the application's middleware has added to it. */
export type NodeHandlerOptions = HandlerOptions<IncomingMessage>

interface Mounted extends IncomingMessage {
  /** The URL without the mount path, as middleware sees it; Express keeps the whole one here, and the path in `baseUrl`. */
  readonly originalUrl?: string
  readonly baseUrl?: string
}

/** Where Express has mounted the handler: a part of the requested path, never of a header. One slash begins it, so that a link cannot lead to another host. */
const routedAt = ({ baseUrl }: Mounted): string => mountPath(baseUrl ?? '').replace(/^[/\\]+/, '/')

/** The caller gets an explained error, as a client shows it. */
const bodyWasRead = (): Response => {
  const failure = failureOf(failures.bodyAlreadyRead())
  return Response.json(failureBody(failure), { status: failure.status, headers: { 'access-control-allow-origin': '*' } })
}

/**
 * The whole HTTP API for Node servers: `http.createServer`, Express, Connect, Fastify, Next.js pages. `at` is the mount path; Express tells it by itself.
 *
 * @example http.createServer(toNodeHandler(waymark)).listen(8000)
 */
export const toNodeHandler = (waymark: Waymark, { at, sendsCompressed = true, ...options }: NodeHandlerOptions = {}): NodeHandler => {
  const handler = createUnmounted<IncomingMessage>(waymark, { ...options, at, sendsCompressed })
  const given = at === undefined ? null : mountPath(at)
  const listen = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as Exchange
      const whole = withBodyReadBefore(request, incoming)
      if (whole === null) return bodyWasRead()
      return handler(whole, addressOf(env as Exchange), () => outgoing.destroy(), incoming, given ?? routedAt(incoming))
    },
    { overrideGlobalObjects: false },
  )
  const handle = async (request: Mounted, response: ServerResponse): Promise<void> => {
    const url = request.originalUrl ?? request.url ?? '/'
    const prefix = given ?? mountPath(request.baseUrl ?? '')
    const target = redirectToMount(prefix, request.method ?? 'GET', url)
    if (target !== null) {
      response.writeHead(302, { location: target, 'cache-control': 'no-cache' }).end()
      return
    }
    request.url = belowMount(prefix, url) ?? url
    if (!request.url.startsWith('/')) request.url = `/${request.url}`
    await listen(request, response)
  }
  return Object.assign(handle, { drain: handler.drain })
}
