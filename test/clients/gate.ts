import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

// A gate before a server: writes down what passes, and plays the accidents of a network when told to.

export interface Passed {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** What the client was answered; null: the connection broke. */
  status: number | null
}

/** What happens to the next request with events: refused as by a full server, or taken by the server while the answer gets lost. */
export type Accident = 'refused' | 'answer lost'

export interface Gate {
  readonly url: string
  readonly passed: Passed[]
  readonly accidents: Accident[]
  /** Requests with events, oldest first. */
  sends(): Passed[]
  /** When what came in is answered. */
  close(): Promise<void>
}

const isSend = (path: string) => /^\/(batch|e|i\/v[01]\/)/.test(path)

export const jsonOf = ({ body }: Passed): Record<string, unknown> =>
  JSON.parse((body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body).toString('utf8')) as Record<string, unknown>

export async function openGate(target: string): Promise<Gate> {
  const passed: Passed[] = []
  const accidents: Accident[] = []
  const running = new Set<Promise<void>>()
  const server = createServer((request, response) => {
    const one = pass(request, response).finally(() => running.delete(one))
    running.add(one)
  })
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request).catch(() => null)
    if (body === null) return // the client has left
    const [method, path] = [request.method ?? 'GET', request.url ?? '/']
    const one: Passed = { method, path, headers: request.headers, body, status: null }
    passed.push(one)
    const accident = isSend(path) && method !== 'OPTIONS' ? accidents.shift() : undefined
    if (accident === 'refused') {
      one.status = 503
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
      response.end('{"type":"server_error","code":"server_error","detail":"Too many events wait.","attr":null}')
      return
    }
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
    const answer = await fetch(target + path, {
      method,
      headers: headers as Record<string, string>,
      body: method === 'GET' || method === 'HEAD' ? undefined : body,
    })
    const text = Buffer.from(await answer.arrayBuffer())
    if (accident === 'answer lost') return void request.socket.destroy()
    one.status = answer.status
    // It is passed on unpacked.
    const {
      'content-encoding': _encoding,
      'content-length': _packed,
      'transfer-encoding': _transfer,
      ...answered
    } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, answered)
    response.end(text)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    accidents,
    sends: () => passed.filter(({ path, method }) => isSend(path) && method !== 'OPTIONS'),
    close: async () => {
      await Promise.all(running)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
