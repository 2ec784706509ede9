import { type DuckDBResult, ResultReturnType } from '@duckdb/node-api'

/** `@duckdb/node-api` 1.5.6 returns an empty chunk after an error too, and has no access to its message. */
export const hasFailed = (result: DuckDBResult): boolean => result.returnType === ResultReturnType.INVALID

/** Reads the same rows without returning them, and so fails with the message. */
export const rowsUnread = (sql: string, columns: number): string =>
  `SELECT ${Array.from({ length: columns }, (_, i) => `max(hash(#${i + 1}))`).join(', ')} FROM (${sql})`

export const endedEarly = (): Error => new Error('DuckDB returned only some of the rows, and no error when they were read again')
