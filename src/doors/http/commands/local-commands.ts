import { timingSafeEqual } from 'node:crypto'
import type { Download } from '../../../engine/execution/download.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { begunStream, pacedBody } from '../queries/streamed.ts'
import { withSafeHeaders } from '../server/safe-headers.ts'

// Requests of the command line on the same machine. While a server owns the directory, commands are executed through it, authorized by a
// secret that only users who may read the directory can know.

type Answering = (request: Request, address?: string | null, cut?: () => void) => Promise<Response>

const prefix = '/_local/'

export type LocalCommands = Readonly<Record<string, (input: unknown) => Promise<unknown>>>

/** All rows of a query, for the command line: the input of the command, and a signal that aborts when the command ends. */
export interface LocalDownloads {
  start(input: unknown, signal: AbortSignal): Promise<Download>
  onError(error: unknown): void
}
/** A command may be paused by its user. */
const localPatience = 2 ** 31 - 1
/** Of the messages of warnings: a JSON array, percent-encoded. */
export const localWarningsHeader = 'x-warning-messages'
const mostWarnings = 20

/** Wraps the handler. Requests without the secret are answered as if this route did not exist. */
export const withLocalCommands =
  (handler: Answering, work: LocalCommands, downloads: LocalDownloads, secret: string): Answering =>
  async (request, address, cut) => {
    const name = request.url.includes(prefix) ? nameIn(new URL(request.url).pathname) : null
    if (name === null || request.method !== 'POST' || !isSecret(request.headers.get('authorization'), secret))
      return handler(request, address, cut)
    if (name !== downloadCommand && !Object.hasOwn(work, name)) return withSafeHeaders(new Response(null, { status: 404 }))
    try {
      const input: unknown = await request.json()
      return withSafeHeaders(name === downloadCommand ? await downloaded(downloads, input, cut) : Response.json(await work[name]!(input)))
    } catch (error) {
      if (!(error instanceof WaymarkError)) {
        downloads.onError(error)
        return withSafeHeaders(Response.json({ detail: error instanceof Error ? error.message : String(error) }, { status: 500 }))
      }
      const { code, data, span, source, detail, status } = error
      return withSafeHeaders(Response.json({ code, data, span, source, detail }, { status }))
    }
  }

export const downloadCommand = 'download'

async function downloaded({ start, onError }: LocalDownloads, input: unknown, cut?: () => void): Promise<Response> {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  const { warnings, bytes } = await start(input, stopped.signal)
  const body = pacedBody(await begunStream(bytes), {
    stop,
    ended: () => undefined,
    breakOff: (error) => {
      onError(error)
      cut?.()
      return cut !== undefined
    },
    patience: localPatience,
  })
  const messages = JSON.stringify(warnings.slice(0, mostWarnings).map(({ message }) => message))
  return new Response(body, { headers: { [localWarningsHeader]: encodeURIComponent(messages) } })
}

const nameIn = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length) : null)

function isSecret(header: string | null, secret: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${secret}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
