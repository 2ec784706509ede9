import { timingSafeEqual } from 'node:crypto'
import { WaymarkError } from '../errors/errors.ts'
import type { App } from './app.ts'
import type { Handler } from './create-handler.ts'

// A door for the command line on the same machine. While a server owns the directory, `waymark query` and `waymark import` come through here with
// a secret that only those who may read the directory can know.

const prefix = '/_local/'

/** Wraps the handler. Requests without the secret are answered as if the door were not there. */
export const withLocalDoor =
  (handler: Handler, project: App['project'], secret: string): Handler =>
  async (request, address, cut) => {
    const url = new URL(request.url)
    if (!url.pathname.startsWith(prefix) || request.method !== 'POST' || !isSecret(request.headers.get('authorization'), secret))
      return handler(request, address, cut)
    const [action, id] = url.pathname.slice(prefix.length).split('/')
    try {
      const data = await project(Number(id))
      const body: unknown = await request.json()
      if (action === 'ingest') return Response.json(await data.ingest(body as never, {}))
      if (action === 'query') return Response.json(await data.query(body))
      return new Response(null, { status: 404 })
    } catch (error) {
      if (!(error instanceof WaymarkError)) throw error
      return Response.json({ code: error.code, data: error.data, span: error.span, detail: error.detail }, { status: error.status })
    }
  }

function isSecret(header: string | null, secret: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${secret}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
