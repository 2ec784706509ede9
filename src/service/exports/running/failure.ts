import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { faultText, isFault } from '../../../errors/faults.ts'
import { DestinationError } from '../destinations/destination.ts'

export interface RunFailure {
  readonly message: string
  readonly isRetryable: boolean
}

/** Errors of the engine that another attempt may not meet. */
const passing: ReadonlySet<string> = new Set([
  'engine-ended',
  'query-timeout',
  'query-memory',
  'no-space',
  'busy',
  'server-busy',
  'engine-unreachable',
])

/** Why a run failed, in words for the user, and whether another attempt may help. */
export function failureOf(error: unknown): RunFailure {
  if (error instanceof DestinationError) return { message: error.message, isRetryable: error.isRetryable }
  if (isFault(error)) return { message: faultText, isRetryable: true }
  if (error instanceof InternalError) return { message: error.message, isRetryable: true }
  if (error instanceof WaymarkError) return { message: error.message, isRetryable: passing.has(error.code) }
  return { message: error instanceof Error ? error.message : String(error), isRetryable: true }
}
