import { WaymarkError } from '../../errors/errors.ts'
import { wrongUsage } from './command.ts'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'the connection was reset',
}

/** A request to a server given by the user; a connection error is reported in one line. */
export async function callServer(url: string, path: string, init: RequestInit): Promise<Response> {
  if (!URL.canParse(url)) throw wrongUsage(`--url must be a URL such as http://127.0.0.1:8000, but got ${url}.`)
  try {
    return await fetch(new URL(path, url), init)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException) : null
    const reason = reasons[cause?.code ?? ''] ?? cause?.message ?? String(error)
    throw new WaymarkError('command-failed', { message: `${url} cannot be reached: ${reason}.` }, { cause: error })
  }
}
