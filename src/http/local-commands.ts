import { timingSafeEqual } from 'node:crypto'
import { WaymarkError } from '../errors/errors.ts'
import type { Handler } from './create-handler.ts'
import { withSafeHeaders } from './safe-headers.ts'

// Requests of the command line on the same machine. While a server owns the directory, commands are executed through it, authorized by a
// secret that only users who may read the directory can know.

type Answering = (...request: Parameters<Handler>) => Promise<Response>

const prefix = '/_local/'

export type LocalCommands = Readonly<Record<string, (input: unknown) => Promise<unknown>>>

/** Wraps the handler. Requests without the secret are answered as if this route did not exist. */
export const withLocalCommands =
  (handler: Answering, work: LocalCommands, secret: string): Answering =>
  async (request, address, cut) => {
    const name = request.url.includes(prefix) ? nameIn(new URL(request.url).pathname) : null
    if (name === null || request.method !== 'POST' || !isSecret(request.headers.get('authorization'), secret))
      return handler(request, address, cut)
    if (!Object.hasOwn(work, name)) return withSafeHeaders(new Response(null, { status: 404 }))
    try {
      return withSafeHeaders(Response.json(await work[name]!(await request.json())))
    } catch (error) {
      if (!(error instanceof WaymarkError)) throw error
      const { code, data, span, source, detail, status } = error
      return withSafeHeaders(Response.json({ code, data, span, source, detail }, { status }))
    }
  }

const nameIn = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length) : null)

function isSecret(header: string | null, secret: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${secret}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
