import { SqlError } from '../statements/sql-error.ts'

/** PostgreSQL counts characters from 1. */
const positionOf = (text: string, offset: number): string => String([...text.slice(0, offset)].length + 1)

/** The fields of an error, for a client. */
export function reported(
  error: unknown,
  text: string,
  severity: 'ERROR' | 'FATAL' = 'ERROR',
): Readonly<Record<string, string | undefined>> {
  const known = error instanceof SqlError ? error : new SqlError('XX000', 'internal error: the log of the server has the reason')
  const { offset, hint, detail } = known.more
  return {
    S: severity,
    V: severity,
    C: known.state,
    M: known.message,
    D: detail,
    H: hint,
    P: offset === undefined || offset > text.length ? undefined : positionOf(text, offset),
  }
}
