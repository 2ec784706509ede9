import { type DuckDBConnection, DuckDBInstance, DuckDBListValue, DuckDBStructValue, type DuckDBValue } from '@duckdb/node-api'

// A small database in memory that is filled once and then only asked: it opens no file, loads no extension, and its settings cannot be changed.

/** Numbers as they are, lists as arrays, everything else as text. */
export type PlainValue = null | string | number | bigint | boolean | readonly PlainValue[]

export interface LockedColumn {
  readonly name: string
  /** As the engine names it: `BIGINT`, `VARCHAR[]`. */
  readonly type: string
}

export interface LockedAnswer {
  readonly columns: readonly LockedColumn[]
  /** In chunks, as they are asked for. */
  readonly rows: AsyncGenerator<readonly (readonly PlainValue[])[], void, undefined>
}

export interface LockedDatabase {
  /** The columns of a statement, which is not run. */
  columns(sql: string): Promise<readonly LockedColumn[]>
  ask(sql: string, signal: AbortSignal): Promise<LockedAnswer>
  close(): void
}

export interface LockedOptions {
  /** `96MB` */
  readonly memory: string
  readonly statements: Iterable<string>
}

function plain(value: DuckDBValue): PlainValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string')
    return value
  if (value instanceof DuckDBListValue) return value.items.map(plain)
  if (value instanceof DuckDBStructValue)
    return `(${Object.values(value.entries)
      .map((one) => String(one ?? ''))
      .join(',')})`
  return String(value)
}

export async function openLockedDatabase({ memory, statements }: LockedOptions): Promise<LockedDatabase> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memory,
    threads: '1',
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    default_null_order: 'postgres',
    integer_division: 'true',
  })
  const connection = await instance.connect()
  try {
    for (const sql of statements) await connection.run(sql)
    await connection.run('SET lock_configuration = true')
  } finally {
    connection.closeSync()
  }
  return {
    columns: async (sql) => {
      const asking = await instance.connect()
      try {
        const prepared = await asking.prepare(sql)
        return Array.from({ length: prepared.columnCount }, (_, i) => ({
          name: prepared.columnName(i),
          type: String(prepared.columnType(i)),
        }))
      } finally {
        asking.closeSync()
      }
    },
    ask: async (sql, signal) => answerOf(await instance.connect(), sql, signal),
    close: () => instance.closeSync(),
  }
}

async function answerOf(connection: DuckDBConnection, sql: string, signal: AbortSignal): Promise<LockedAnswer> {
  const stop = () => connection.interrupt()
  signal.addEventListener('abort', stop)
  const end = () => {
    signal.removeEventListener('abort', stop)
    connection.closeSync()
  }
  try {
    const result = await connection.stream(sql)
    const columns = result.columnNames().map((name, i) => ({ name, type: String(result.columnType(i)) }))
    const rows = (async function* () {
      try {
        for (;;) {
          const chunk = await result.fetchChunk()
          if (!chunk || chunk.rowCount === 0) return
          yield chunk.getRows().map((row) => row.map(plain))
        }
      } finally {
        end()
      }
    })()
    return { columns, rows }
  } catch (error) {
    end()
    throw error
  }
}
