// Faults of this program, which nobody else may be blamed for.

/** Codes with which Node refuses how it was called. */
const misuse: ReadonlySet<unknown> = new Set(['ERR_ASSERTION', 'ERR_INVALID_ARG_TYPE', 'ERR_OUT_OF_RANGE'])
/** `fetch` and its streams report a broken connection as a TypeError. */
const ofConnections: ReadonlySet<string> = new Set(['fetch failed', 'terminated', 'Failed to fetch'])

/**
 * Whether an error is a fault of this program, such as reading a property of undefined. A catch that tells errors as those of a server, a destination or
 * a plugin asks this first. Errors of the same classes that report something from outside have a code or a cause.
 */
export function isFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, cause, name } = error as NodeJS.ErrnoException
  if (name === 'InternalError') return isFault(cause)
  if (code !== undefined) return misuse.has(code)
  const isProgramming = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  return isProgramming && cause === undefined && !ofConnections.has(error.message)
}

/** Told in place of a fault, whose text is for the log. */
export const faultText = 'An internal error in Waymark. The server log has the details: please report it.'
