import { resolve } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { endedEarly, hasFailed, rowsUnread } from './stream-failure.ts'

/**
 * Rows of a CSV or Parquet file, in order, in chunks. A second instance reads the file, which has access to nothing else. Columns of a
 * CSV are texts; integers beyond 2^53 are texts too. Invalid lines of a CSV are reported at the end.
 */
export async function* readTableFile(
  path: string,
  format: 'csv' | 'parquet',
): AsyncGenerator<{ rows: Record<string, unknown>[] } | { problems: { problem: string; line: number }[] }, void, void> {
  const file = resolve(path)
  const quoted = `'${file.replaceAll("'", "''")}'`
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const settings = [
      "memory_limit = '512MB'",
      'threads = 1',
      'preserve_insertion_order = true',
      `allowed_paths = [${quoted}]`,
      'enable_external_access = false',
      'lock_configuration = true',
    ]
    for (const setting of settings) await connection.run(`SET GLOBAL ${setting}`)
    const source =
      format === 'parquet' ? `read_parquet(${quoted})` : `read_csv(${quoted}, all_varchar = true, header = true, store_rejects = true)`
    const result = await connection.stream(`SELECT * FROM ${source}`)
    const names = result.deduplicatedColumnNames()
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
      yield { rows: chunk.getRows().map((row) => Object.fromEntries(names.map((name, i) => [name, plain(row[i])]))) }
    if (hasFailed(result)) {
      await connection.run(rowsUnread(`SELECT * FROM ${source}`, names.length))
      throw endedEarly()
    }
    if (format === 'csv') yield { problems: await rejected(connection) }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

async function rejected(connection: DuckDBConnection): Promise<{ problem: string; line: number }[]> {
  const result = await connection.runAndReadAll('SELECT line::INTEGER, min(error_message) FROM reject_errors GROUP BY line ORDER BY line')
  return result
    .getRows()
    .map(([line, message]) => ({ line: Number(line), problem: `line ${line} of the file: ${String(message).split('\n')[0]}` }))
}

/** The forms that a property can hold: DuckDB's classes become texts, lists and objects. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value === null || typeof value !== 'object') return value
  if ('items' in value && Array.isArray(value.items)) return value.items.map(plain)
  if ('entries' in value && Array.isArray(value.entries))
    return Object.fromEntries(value.entries.map((entry: { key: unknown; value: unknown }) => [String(entry.key), plain(entry.value)]))
  if ('entries' in value && typeof value.entries === 'object' && value.entries !== null)
    return Object.fromEntries(Object.entries(value.entries).map(([key, item]) => [key, plain(item)]))
  if ('micros' in value && typeof value.micros === 'bigint') return new Date(Number(value.micros) / 1000).toISOString()
  return String(value)
}
