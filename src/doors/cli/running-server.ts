import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ErrorCode } from '../../errors/codes.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { announced } from '../../service/directory/announcement.ts'
import type { DirectoryCommandName, DirectoryDownload, DownloadInput, Input, Outcome } from '../http/commands/directory-commands.ts'
import { downloadCommand, localWarningsHeader } from '../http/commands/local-commands.ts'

/** A server that runs on this machine has the directory, and answers, however busy the machine is. */
const busyMs = 60_000
/** In another container, or before a restart of the machine, it may be gone. */
const elsewhereMs = 2_000

/** The server that owns the directory, or null if none answers. */
export async function runningServer(dataDir: string): Promise<RunningServer | null> {
  try {
    const found = await announced(dataDir)
    if (!found) return null
    const { url, secret, isHere } = found
    const alive = await fetch(`${url}/_livez`, { signal: AbortSignal.timeout(isHere ? busyMs : elsewhereMs) })
    return alive.ok ? new RunningServer(url, secret) : null
  } catch {
    return null
  }
}
export class RunningServer {
  constructor(
    readonly url: string,
    private readonly secret: string,
  ) {}

  async do<N extends DirectoryCommandName>(name: N, input: Input<N>): Promise<Outcome<N>> {
    const response = await fetch(`${this.url}/_local/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    }).catch((cause: unknown) => {
      throw new WaymarkError('command-failed', { message: `Lost the connection to the server at ${this.url}.` }, { cause })
    })
    if (response.ok) return (await response.json()) as Outcome<N>
    throw this.refused(await response.text(), response.status)
  }

  /** Without the time limits of `fetch`: the first byte of a large file may take long. */
  async download(input: DownloadInput, signal: AbortSignal): Promise<DirectoryDownload> {
    const lost = (cause: unknown) =>
      new WaymarkError('command-failed', { message: `The server at ${this.url} ended the download. Its log has the reason.` }, { cause })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.secret}`, 'content-type': 'application/json' }
      const asked = request(`${this.url}/_local/${downloadCommand}`, { method: 'POST', headers, signal }, resolve)
      asked.on('error', (cause) => reject(lost(cause)))
      asked.end(JSON.stringify(input))
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
