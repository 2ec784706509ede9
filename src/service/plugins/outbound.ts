import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { parsedUrl } from '../../lib/web/parsed-url.ts'
import { mustBeReachable } from '../../lib/web/reachable-url.ts'
import type { Outbound, OutboundRequest, OutboundResponse, Reachable } from './ports.ts'

// Requests of plugins. Each redirect is a request of its own: its address is checked like the first.

const usualRedirects = 5
const redirects = new Set([301, 302, 303, 307, 308])
/** Headers about the connection, which this server makes. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'expect',
])
/** Headers that belong to one origin. */
const secretHeaders = new Set(['authorization', 'cookie', 'proxy-authorization'])

export interface OutboundLimits {
  readonly response: number
  readonly request: number
  /** How many redirects are followed. Default: 5. */
  readonly redirects?: number
}
/** Longer responses wait until there is memory for them. */
const shortResponse = 64 * 1024
const defaultLimits: OutboundLimits = { response: 4 * 1024 * 1024, request: 4 * 1024 * 1024 }

const without = (headers: Readonly<Record<string, string>>, names: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())))

export function createOutbound(
  reachable: Reachable,
  { response: mostBytes, request: mostSent, redirects: mostRedirects = usualRedirects } = defaultLimits,
): Outbound {
  const once = (url: URL, { method, headers, body }: OutboundRequest, signal: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method,
        // A connection of its own: one that others left open was perhaps to an address that plugins may not reach.
        agent: false as const,
        lookup: reachable.lookup,
        signal,
        headers: {
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'Waymark',
          ...without(headers, ownHeaders),
          ...(body ? { 'content-length': String(body.length) } : {}),
        },
      }
      const sent = (url.protocol === 'https:' ? secureRequest : plainRequest)(url, options, resolve)
      sent.on('error', reject)
      sent.end(body ?? undefined)
    })

  const read = async (response: IncomingMessage, hold?: (bytes: number) => Promise<void>): Promise<Buffer> => {
    const pieces: Buffer[] = []
    let size = 0
    let isHeld = hold === undefined
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > mostBytes) {
        response.destroy()
        throw new Error(`The response has more than ${mostBytes} bytes`)
      }
      pieces.push(piece)
      if (isHeld || size <= shortResponse) continue
      isHeld = true
      const said = Number(response.headers['content-length'])
      await hold!(response.headers['content-encoding'] === undefined && said < mostBytes ? said : mostBytes)
    }
    const all = Buffer.concat(pieces)
    return response.headers['content-encoding'] === 'gzip' && size > 0 ? gunzipSync(all, { maxOutputLength: mostBytes }) : all
  }

  return async (request, signal, hold): Promise<OutboundResponse> => {
    if ((request.body?.length ?? 0) > mostSent) throw new Error(`The request has more than ${mostSent} bytes`)
    let url = parsed(request.url)
    let current = request
    for (let n = 0; ; n++) {
      mustBeReachable(url, reachable)
      if (!/^[A-Z]{1,16}$/.test(current.method) || current.method === 'CONNECT')
        throw new Error(`Unknown method "${current.method.slice(0, 20)}"`)
      const response = await once(url, current, signal)
      const { statusCode: status = 0, headers } = response
      if (!redirects.has(status) || headers.location === undefined) {
        const body = await read(response, hold)
        return { url: url.href, status, statusText: response.statusMessage ?? '', headers: plain(headers), body }
      }
      response.destroy()
      if (n === mostRedirects) throw new Error(`${new URL(request.url).host} redirects more than ${mostRedirects} times`)
      const next: URL = parsed(headers.location, url)
      const isGet = status === 303 || (status < 303 && current.method === 'POST')
      current = {
        ...current,
        ...(isGet && { method: 'GET', body: null }),
        headers: next.origin === url.origin ? current.headers : without(current.headers, secretHeaders),
      }
      url = next
    }
  }
}

function parsed(text: string, base?: URL): URL {
  const url = parsedUrl(text, base)
  if (!url) throw new Error(`"${text.slice(0, 200)}" is not a URL`)
  return url
}

const plain = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
