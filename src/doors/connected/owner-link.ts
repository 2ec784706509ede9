import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { RecordBatch } from 'apache-arrow'
import { readError, type WireError } from '../../engine/isolation/wire-error.ts'
import { readValue } from '../../engine/isolation/wire-value.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { announcedOwner, type OwnerAddress } from '../../service/directory/announcement.ts'
import {
  type Call,
  type Kind,
  kindHeader,
  logHeader,
  mostHeaderBytes,
  type Part,
  secretHeader,
  type Taken,
  takenHeader,
  unframed,
  type Watched,
  writeTaken,
  written,
} from './protocol.ts'

// How a guest reaches the owner of the directory.

/** The owner has left or ended. `wasSent`: a call may have been carried out. */
export class OwnerGone extends Error {
  override readonly name = 'OwnerGone'
  constructor(
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super('The process that had the data directory open has left it', options)
  }
}

/** What is sent of a request that this process has taken. */
export interface Sent {
  readonly method: string
  readonly headers: Headers
  /** Bytes can be sent again; a stream cannot. */
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null
  readonly taken: Taken
  readonly signal?: AbortSignal
}

export interface Answered {
  readonly response: Response
  /** Lines for the log of this process. */
  readonly log: readonly unknown[]
}

interface Asked {
  readonly kind: Kind
  readonly method?: string
  readonly path?: string
  readonly headers?: Headers
  readonly body?: Uint8Array | ReadableStream<Uint8Array> | null
  readonly signal?: AbortSignal | undefined
}

/** Of a connection, not of the message. */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
  'te',
  'trailer',
  'expect',
])
const withoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304])

function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers()
  const { rawHeaders } = message
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!ofConnection.has(rawHeaders[i]!.toLowerCase()) && rawHeaders[i]!.toLowerCase() !== logHeader)
      headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  return headers
}

const linesOf = (message: IncomingMessage): readonly unknown[] => {
  const text = message.headers[logHeader]
  return typeof text === 'string' ? (JSON.parse(decodeURIComponent(text)) as unknown[]) : []
}

/** An owner that breaks connections off is asked this often, each after a pause. */
const mostTries = 5
const againMs = 500

/** An owner that answers later than this is mentioned. */
const slowMs = 3_000

export class OwnerLink {
  private readonly address: OwnerAddress
  private readonly agent: Agent
  private readonly watching: IncomingMessage
  private open = 0
  private isLeaving = false
  private readonly whenIdle: (() => void)[] = []
  /** Resolves when the owner leaves or has ended, and nothing more may be sent to it. */
  readonly left: Promise<void>

  private constructor(address: OwnerAddress, agent: Agent, watching: IncomingMessage) {
    this.address = address
    this.agent = agent
    this.watching = watching
    this.left = this.watch()
  }

  /** Null: there is no owner that takes calls. `onSlow`: the process with this number has the directory, and does not answer for a while. */
  static async connect(dataDir: string, onSlow: (pid: number) => void): Promise<OwnerLink | null> {
    const address = await announcedOwner(dataDir)
    if (!address) return null
    const slow = setTimeout(() => onSlow(address.pid), slowMs)
    const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
    try {
      const watching = await ask(address, agent, { kind: 'watch' })
      if (watching.statusCode === 200) return new OwnerLink(address, agent, watching)
      watching.resume()
    } catch {
      // it has just left
    } finally {
      clearTimeout(slow)
    }
    agent.destroy()
    return null
  }

  private async watch(): Promise<void> {
    try {
      for await (const chunk of this.watching) if (String(chunk).includes('leaving')) break
    } catch {
      // it was killed
    }
    this.isLeaving = true
    // The owner waits until what was sent to it is answered.
    void this.idle().then(() => this.close())
  }

  /** Resolves when all that was sent is answered, or after this time. */
  async idle(withinMs?: number): Promise<void> {
    if (this.open === 0) return
    await new Promise<void>((resolve) => {
      this.whenIdle.push(resolve)
      if (withinMs !== undefined) setTimeout(resolve, withinMs).unref()
    })
  }

  /** Resolves when the next owner may be asked, or this one once more: a connection may break off without its end. */
  async mayAskAgain(error: OwnerGone, tries: number): Promise<void> {
    const stop = new AbortController()
    const hasLeft = this.left.then(() => true)
    const isHere = wait(againMs, false, { signal: stop.signal })
    isHere.catch(() => undefined)
    const isOver = await Promise.race([hasLeft, isHere])
    stop.abort()
    if (!isOver && tries >= mostTries) throw new WaymarkError('owner-ended', {}, { cause: error })
  }

  close(): void {
    this.isLeaving = true
    this.watching.destroy()
    this.agent.destroy()
  }

  async call(call: Call, { signal, onProgress }: Watched = {}): Promise<{ answer: unknown; token: string | null }> {
    const body = written(call)
    return this.during(async () => {
      const last = await lastPart(await this.ask({ kind: 'call', method: 'POST', body, signal }), onProgress).catch((cause: unknown) => {
        throw signal?.aborted ? signal.reason : new OwnerGone(true, { cause })
      })
      if ('answer' in last) return { answer: readValue(last.answer), token: last.token }
      const error = readError(last.failure as WireError)
      throw error instanceof WaymarkError && error.code === 'closed' ? new OwnerGone(true, { cause: error }) : error
    })
  }

  /** Rows as they are read; once one is there, another owner cannot go on. */
  async batches(project: number, query: unknown, signal?: AbortSignal): Promise<AsyncGenerator<RecordBatch, void, undefined>> {
    const body = written({ project, query })
    const end = this.begin()
    try {
      const message = await this.ask({ kind: 'batches', method: 'POST', body, signal })
      if (message.statusCode !== 200)
        for await (const part of unframed(message)) if ('failure' in part) throw readError(part.failure as WireError)
      const { arrowBatches } = await import('../../lib/bytes/arrow-bytes.ts')
      const bytes = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
        try {
          yield* message
        } catch (cause) {
          throw signal?.aborted ? signal.reason : new OwnerGone(true, { cause })
        }
      }
      return endingWith(arrowBatches(bytes()), end)
    } catch (error) {
      end()
      throw error
    }
  }

  /** Sends a request that this process has taken. Its answer ends when its body does. */
  async send({ method, headers, body, taken, signal }: Sent, kind: 'request' | 'operator' = 'request'): Promise<Answered> {
    const end = this.begin()
    try {
      const sent = new Headers(headers)
      for (const name of ofConnection) sent.delete(name)
      sent.set(takenHeader, writeTaken(taken))
      const url = new URL(taken.url)
      const message = await this.ask({ kind, method, path: url.pathname + url.search, headers: sent, body, signal })
      const status = message.statusCode!
      const isEmpty = withoutBody.has(status) || method === 'HEAD'
      if (isEmpty) message.resume()
      message.once('close', end)
      const content = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>)
      return { response: new Response(content, { status, headers: headersOf(message) }), log: linesOf(message) }
    } catch (error) {
      end()
      throw error
    }
  }

  private ask(asked: Asked): Promise<IncomingMessage> {
    return ask(this.address, this.agent, asked)
  }

  private begin(): () => void {
    if (this.isLeaving) throw new OwnerGone(false)
    this.open++
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      if (--this.open === 0) for (const resolve of this.whenIdle.splice(0)) resolve()
    }
  }

  private async during<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin()
    try {
      return await work()
    } finally {
      end()
    }
  }
}

async function* endingWith<T>(items: AsyncGenerator<T, void, undefined>, end: () => void): AsyncGenerator<T, void, undefined> {
  try {
    yield* items
  } finally {
    end()
  }
}

async function lastPart(message: IncomingMessage, onProgress?: (value: unknown) => void): Promise<Exclude<Part, { progress: unknown }>> {
  for await (const part of unframed(message)) {
    if (!('progress' in part)) return part
    onProgress?.(part.progress)
  }
  throw new Error('The answer has ended early')
}

/** By what is sent, never by what the headers of a client say: the bytes that are left over would be the next request on the connection. */
const framing = (body: Asked['body']): Record<string, string> => {
  if (!body) return {}
  return body instanceof Uint8Array ? { 'content-length': String(body.length) } : { 'transfer-encoding': 'chunked' }
}

function ask(
  { socket, secret }: OwnerAddress,
  agent: Agent,
  { kind, method = 'GET', path = '/', headers, body = null, signal }: Asked,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string | string[]> = {}
    headers?.forEach((value, name) => {
      if (name !== 'content-length') fields[name] = value
    })
    const all = { host: 'waymark', ...fields, ...framing(body), [secretHeader]: secret, [kindHeader]: kind }
    const options = { socketPath: socket, agent, method, path, headers: all, maxHeaderSize: mostHeaderBytes, ...(signal ? { signal } : {}) }
    const asked = httpRequest(options, (message) => {
      message.on('error', () => undefined) // who reads it hears of it
      resolve(message)
    })
    let failedBody: unknown
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (signal?.aborted) reject(signal.reason)
      else reject(failedBody ?? new OwnerGone(error.syscall !== 'connect', { cause: error }))
    })
    if (body === null) asked.end()
    else if (body instanceof Uint8Array) asked.end(body)
    else
      Readable.fromWeb(body as never)
        .on('error', (error) => {
          failedBody = error
          asked.destroy(error)
        })
        .pipe(asked)
  })
}
