import { InternalError, QueryError, WaymarkError } from '../../../errors/errors.ts'
import { isFault } from '../../../errors/faults.ts'
import { refusedIn } from '../../../errors/refusal-mark.ts'
import { connectionError, serverCode } from './connection-errors.ts'

// ClickHouse's errors about a statement, in terms of the language. The codes are those of `ErrorCodes.cpp`.

const memoryExceeded = 241
const cancelled: ReadonlySet<number> = new Set([394, 735])
/** Type mismatches. */
const aboutTypes: ReadonlySet<number> = new Set([42, 43, 44, 53, 70, 179, 386, 481, 645])
/** Server limits that a statement exceeds: time, rows, bytes, its own size. */
const aboutLimits: ReadonlySet<number> = new Set([158, 159, 160, 161, 162, 167, 168, 191, 306, 307, 396])
/** Invalid values. */
const aboutValues: ReadonlySet<number> = new Set([
  6, 27, 36, 38, 41, 47, 48, 69, 72, 117, 125, 128, 131, 153, 190, 215, 376, 407, 427, 440, 467, 675, 691, 704,
])

export const isOutOfMemory = (error: unknown): boolean => serverCode(error) === memoryExceeded

/** `throwIf`. */
const raised = 395

const longestMessage = 300

export function engineError(error: unknown, sql: string): Error {
  if (error instanceof WaymarkError || error instanceof InternalError) return error
  if (isFault(error)) return new InternalError(String(error), { cause: error, sql })
  const message = error instanceof Error ? error.message : String(error)
  const refused = refusedIn(message, error)
  if (refused) return refused
  const other = connectionError(error)
  if (other instanceof WaymarkError) return other
  const code = serverCode(error)!
  const cause = Object.assign(new Error(message), { sql })
  if (code === memoryExceeded) return new QueryError('query-memory', { message: '' }, null, { cause })
  if (cancelled.has(code)) return new QueryError('query-cancelled', {}, null, { cause })
  if (code === raised) return new QueryError('engine-refused', { message: raisedIn(message), isRaised: true }, null, { cause })
  const isAboutTypes = aboutTypes.has(code)
  if (isAboutTypes || aboutValues.has(code) || aboutLimits.has(code))
    return new QueryError('engine-refused', { message: inOurWords(message), isAboutTypes }, null, { cause })
  return new InternalError(message, { cause: error, sql })
}

/** The text that the statement gives, or the one for none. */
const raisedIn = (message: string): string =>
  inOurWords(message).replace(/^Value passed to 'throwIf' function is non-zero$/, 'Value passed to throwIf is not zero')

/** The first sentence, without the parts about generated SQL. */
function inOurWords(message: string): string {
  const sentence = message.replace(/^(Code: \d+\. )?(DB::Exception: )?/, '')
  const end = sentence.search(/: (?:In scope|while executing|While processing)|\. \([A-Z_]{1,80}\)| \(version/i)
  const plain = end < 0 ? sentence : sentence.slice(0, end)
  return plain.length > longestMessage ? `${plain.slice(0, longestMessage)}…` : plain
}
