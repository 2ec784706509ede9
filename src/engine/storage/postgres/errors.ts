import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { isFault } from '../../../errors/faults.ts'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host was not found',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no route to the host',
  '53300': 'it has too many connections',
  '57P01': 'it is shutting down',
  '57P02': 'it is shutting down',
  '57P03': 'it is starting up or shutting down',
}

/** Errors of the server about a statement have a code of five characters. Class 08, 25P03 and 57P are about the connection. */
const isAboutConnection = (code: string) => code === '53300' || code === '25P03' || /^(08|57P)/.test(code)

/** Whether the statement may have been carried out or not: the connection was lost. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof WaymarkError) return error.code === 'postgres-unreachable'
  if (!(error instanceof Error) || isFault(error)) return false
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !(code in reasons)) return isAboutConnection(code)
  return code !== undefined ? code in reasons : /connect|terminated|timeout|closed|not queryable/i.test(error.message)
}

export const unreachable = (reason: string, cause?: unknown): WaymarkError =>
  new WaymarkError('postgres-unreachable', { reason }, { cause })

/** The error that a caller gets. */
export function postgresError(error: unknown): unknown {
  if (error instanceof WaymarkError || error instanceof InternalError) return error
  if (isFault(error)) return new InternalError(String(error), { cause: error })
  if (!isConnectionLost(error)) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return unreachable(reasons[code] ?? message.replace(/\.$/, ''), error)
}
