import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ErrorCode } from '../../errors/codes.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { announced, announcedOwner } from '../../service/directory/announcement.ts'
import { kindHeader, secretHeader } from '../connected/protocol.ts'
import type { DirectoryCommandName, DirectoryDownload, DownloadInput, Input, Outcome } from '../http/commands/directory-commands.ts'
import { downloadCommand, localWarningsHeader } from '../http/commands/local-commands.ts'

/** A server that runs on this machine has the directory, and answers, however busy the machine is. */
const busyMs = 60_000
/** In another container, or before a restart of the machine, it may be gone. */
const elsewhereMs = 2_000

/** Where commands are taken: an address, or the socket that every owner of a directory has. */
type Place = { readonly url: string } | { readonly socketPath: string }

/** The process that owns the directory, or null if none answers. */
export async function runningServer(dataDir: string): Promise<RunningServer | null> {
  return (await announcedServer(dataDir)) ?? (await owningProcess(dataDir))
}

async function announcedServer(dataDir: string): Promise<RunningServer | null> {
  try {
    const found = await announced(dataDir)
    if (!found) return null
    const { url, secret, isHere } = found
    const alive = await fetch(`${url}/_livez`, { signal: AbortSignal.timeout(isHere ? busyMs : elsewhereMs) })
    return alive.ok ? new RunningServer({ url }, url, { authorization: `Bearer ${secret}` }) : null
  } catch {
    return null
  }
}

/** An application that has the directory open, whether or not it serves anything. */
async function owningProcess(dataDir: string): Promise<RunningServer | null> {
  const found = await announcedOwner(dataDir)
  if (!found) return null
  const { socket, secret, pid } = found
  const owner = new RunningServer({ socketPath: socket }, `process ${pid}`, {
    [kindHeader]: 'command',
    [secretHeader]: secret,
    authorization: `Bearer ${secret}`,
  })
  return (await owner.isThere()) ? owner : null
}

export class RunningServer {
  private readonly place: Place
  private readonly headers: Readonly<Record<string, string>>
  /** Its URL, or the id of its process. */
  readonly url: string

  constructor(place: Place, url: string, headers: Readonly<Record<string, string>>) {
    this.place = place
    this.url = url
    this.headers = headers
  }

  async isThere(): Promise<boolean> {
    try {
      const answer = await this.send('/_livez', '', AbortSignal.timeout(busyMs))
      answer.resume()
      return answer.statusCode === 200
    } catch {
      return false
    }
  }

  async do<N extends DirectoryCommandName>(name: N, input: Input<N>): Promise<Outcome<N>> {
    const answered = async () => {
      const response = await this.send(`/_local/${name}`, JSON.stringify(input))
      return { status: response.statusCode ?? 0, body: await text(response) }
    }
    const { status, body } = await answered().catch((cause: unknown) => {
      throw new WaymarkError('command-failed', { message: `Lost the connection to the server at ${this.url}.` }, { cause })
    })
    if (status >= 200 && status < 300) return JSON.parse(body) as Outcome<N>
    throw this.refused(body, status)
  }

  async download(input: DownloadInput, signal: AbortSignal): Promise<DirectoryDownload> {
    const lost = (cause: unknown) =>
      new WaymarkError('command-failed', { message: `The server at ${this.url} ended the download. Its log has the reason.` }, { cause })
    const response = await this.send(`/_local/${downloadCommand}`, JSON.stringify(input), signal).catch((cause: unknown) => {
      throw lost(cause)
    })
    const status = response.statusCode ?? 0
    if (status !== 200) throw this.refused(await text(response), status)
    const messages = JSON.parse(decodeURIComponent(String(response.headers[localWarningsHeader]))) as string[]
    async function* bytes() {
      try {
        for await (const piece of response) yield piece as Uint8Array
      } catch (cause) {
        throw signal.aborted ? cause : lost(cause)
      }
    }
    return { warnings: messages.map((message) => ({ message })), bytes: bytes() }
  }

  /** Without the time limits of `fetch`: the first byte of a large file may take long. */
  private send(path: string, body: string, signal?: AbortSignal): Promise<IncomingMessage> {
    const { place } = this
    const headers = { ...this.headers, 'content-type': 'application/json', ...('url' in place ? {} : { host: 'waymark' }) }
    const options = { method: body === '' ? 'GET' : 'POST', headers, ...(signal ? { signal } : {}) }
    return new Promise((resolve, reject) => {
      const asked = 'url' in place ? request(`${place.url}${path}`, options, resolve) : request({ ...options, ...place, path }, resolve)
      asked.on('error', reject)
      asked.end(body)
    })
  }

  private refused(body: string, status: number): WaymarkError {
    const answer = (body === '' ? {} : JSON.parse(body)) as Refusal // an internal error has no body
    if (answer.code && answer.data) return new WaymarkError(answer.code, answer.data, answer)
    return new WaymarkError('command-failed', {
      message: answer.detail ?? `The server at ${this.url} answered ${status}. Its log has the reason.`,
    })
  }
}

interface Refusal {
  readonly code?: ErrorCode
  readonly data?: never
  readonly span?: Span
  readonly source?: string
  readonly detail?: string
}
