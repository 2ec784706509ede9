import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A destination: it keeps the bodies that it has accepted.

/** A status; `close`: the connection ends without an answer; `hang`: no answer. */
export type SinkAnswer = number | 'close' | 'hang'

export interface Sink {
  readonly url: string
  readonly accepted: Record<string, unknown>[]
  /** Of all requests, in their order. */
  readonly tried: Record<string, unknown>[]
  answer: (body: Record<string, unknown>, attempt: number) => SinkAnswer | Promise<SinkAnswer>
  /** Resolves when it has accepted or tried so many. */
  until(what: 'accepted' | 'tried', count: number): Promise<void>
  close(): Promise<void>
}

export async function startSink(): Promise<Sink> {
  const waiting = new Set<() => void>()
  const attempts = new Map<string, number>()
  const server = createServer(async (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    for await (const part of request) text += part
    const body = JSON.parse(text) as Record<string, unknown>
    const key = String(body.uuid)
    attempts.set(key, (attempts.get(key) ?? 0) + 1)
    sink.tried.push(body)
    const answer = await sink.answer(body, attempts.get(key)!)
    if (answer === 200) sink.accepted.push(body)
    for (const look of waiting) look()
    if (answer === 'hang') return
    if (answer === 'close') return void request.socket.destroy()
    response.writeHead(answer).end()
  })
  const sink: Sink = {
    url: '',
    accepted: [],
    tried: [],
    answer: () => 200,
    until: (what, count) =>
      new Promise((resolve) => {
        const look = () => {
          if (sink[what].length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(sink, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` })
}
