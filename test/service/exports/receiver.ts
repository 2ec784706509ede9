import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

// A server that takes what the destination HTTP sends. It keeps the rows of a run when their summary has come, in place of earlier ones.

export interface Received {
  readonly key: string
  readonly rows: readonly Record<string, unknown>[]
}

export interface Receiver {
  readonly url: string
  /** Complete runs, in the order in which they were completed. */
  readonly runs: Received[]
  readonly requests: { readonly headers: IncomingMessage['headers']; readonly body: string }[]
  /** The status of the next answers; 0: the connection is closed without one. */
  answer: (request: IncomingMessage) => number | Promise<number>
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const pending = new Map<string, Map<string, Record<string, unknown>[]>>()
  const server = createServer(async (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    for await (const part of request) body += part
    const status = await receiver.answer(request)
    if (status === 0) return void request.socket.destroy()
    receiver.requests.push({ headers: request.headers, body })
    if (status === 200) take(request.headers, body)
    response.writeHead(status)
    response.end(status === 200 ? '' : 'No.')
  })
  const take = (headers: IncomingMessage['headers'], body: string) => {
    const key = String(headers['x-waymark-run'])
    const attempt = `${key} ${headers['x-waymark-attempt']}`
    const parts = pending.get(attempt) ?? new Map<string, Record<string, unknown>[]>()
    pending.set(attempt, parts)
    if (headers['x-waymark-kind'] === 'rows') {
      const rows = body.split('\n').filter(Boolean)
      parts.set(
        String(headers['idempotency-key']),
        rows.map((line) => JSON.parse(line) as Record<string, unknown>),
      )
    }
    if (headers['x-waymark-kind'] !== 'summary') return
    const known = receiver.runs.findIndex((one) => one.key === key)
    const run = { key, rows: [...parts.values()].flat() }
    if (known >= 0) receiver.runs[known] = run
    else receiver.runs.push(run)
  }
  const receiver: Receiver = {
    url: '',
    runs: [],
    requests: [],
    answer: () => 200,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` })
}
