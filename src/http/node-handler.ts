import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Waymark } from '../engine.ts'
import { withoutTrailingSlashes } from '../lib/without-trailing-slashes.ts'
import { createHandler, type HandlerOptions } from './create-handler.ts'
import { addressOf, type Exchange } from './node-server.ts'

export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Call before `waymark.close()`: waits for async queries up to this time, then cancels them. */
  drain(withinMs?: number): Promise<void>
}

/** The URL without the mount path, as middleware sees it; Express keeps the whole one here. */
const wholeUrl = (request: IncomingMessage): string => (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/'

/**
 * The whole HTTP API for Node servers: `http.createServer`, Express, Connect, Fastify, Next.js pages. `at` is the mount path.
 *
 * @example http.createServer(toNodeHandler(waymark)).listen(8000)
 */
export const toNodeHandler = (waymark: Waymark, { at = '', ...options }: HandlerOptions & { readonly at?: string } = {}): NodeHandler => {
  const handler = createHandler(waymark, options)
  const prefix = at === '/' ? '' : withoutTrailingSlashes(at)
  const listen = getRequestListener(
    (request, env) => handler(request, addressOf(env as Exchange), () => (env as Exchange).outgoing.destroy()),
    { overrideGlobalObjects: false },
  )
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = wholeUrl(request)
    request.url =
      prefix !== '' && (url === prefix || url.startsWith(`${prefix}/`) || url.startsWith(`${prefix}?`))
        ? url.slice(prefix.length) || '/'
        : url
    if (!request.url.startsWith('/')) request.url = `/${request.url}`
    await listen(request, response)
  }
  return Object.assign(handle, { drain: handler.drain })
}
