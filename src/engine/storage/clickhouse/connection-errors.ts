import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { isFault } from '../../../errors/faults.ts'

/** The code of an error from the server, as in `ErrorCodes.cpp`; null for any other error. */
export function serverCode(error: unknown): number | null {
  const code = Number((error as { code?: unknown }).code)
  if (Number.isInteger(code) && code > 0) return code
  const found = /Code: (\d+)(?:\. DB::|, e\.)/.exec(error instanceof Error ? error.message : String(error))
  return found && Number(found[1])
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host was not found',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the host',
}

const longestReason = 200

/** Without the final full stop. */
export function reasonOf(error: unknown): string {
  const { code, message = String(error) } = error as NodeJS.ErrnoException
  const text = reasons[code ?? ''] ?? (message.replace(/^Code: \d+\. DB::Exception: /, '') || String(code))
  const [line] = text.trim().split('\n')
  return line!.slice(0, longestReason).replace(/\.$/, '')
}

/** The user's permissions were changed. */
const denied: ReadonlySet<number> = new Set([192, 193, 194, 497, 516])
const tooManyQueries = 202
/** The server is starting, stopping or overloaded. */
const unavailable: ReadonlySet<number> = new Set([198, 209, 210, 236, 279])

/** The connection error behind a failed request if the statement did not cause it; an internal error for a fault of this program; else the error itself. */
export function connectionError(error: unknown): unknown {
  if (error instanceof WaymarkError || error instanceof InternalError) return error
  if (isFault(error)) return new InternalError(String(error), { cause: error })
  const code = serverCode(error)
  if (code === tooManyQueries) return new WaymarkError('busy', { what: 'queries on the ClickHouse server' }, { cause: error })
  if (code === null || denied.has(code) || unavailable.has(code)) return unreachable(reasonOf(error), error)
  return error
}

export const unreachable = (reason: string, cause?: unknown): WaymarkError =>
  new WaymarkError('engine-unreachable', { engine: 'The ClickHouse server', reason }, { cause })
