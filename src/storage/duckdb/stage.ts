import {
  BOOLEAN,
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api'

// A temporary table of one connection, filled in data chunks. Values are in the form that is cheapest to transfer (no BigInt, no
// value objects); the statement that reads it casts them to the types of the target, on the engine's own threads.

export type StageKind = 'text' | 'uuid' | 'time' | 'integer' | 'bigint' | 'boolean'

const kinds: Readonly<Record<StageKind, { readonly type: DuckDBType; readonly sql: string; readonly read: (column: string) => string }>> = {
  text: { type: VARCHAR, sql: 'VARCHAR', read: (column) => column },
  uuid: { type: VARCHAR, sql: 'VARCHAR', read: (column) => `${column}::UUID` },
  time: { type: DOUBLE, sql: 'DOUBLE', read: (column) => `make_timestamp(${column}::BIGINT)` }, // microseconds
  integer: { type: INTEGER, sql: 'INTEGER', read: (column) => column },
  bigint: { type: DOUBLE, sql: 'DOUBLE', read: (column) => `${column}::BIGINT` }, // exact up to 2^53
  boolean: { type: BOOLEAN, sql: 'BOOLEAN', read: (column) => column },
}

export type StageColumns = Readonly<Record<string, StageKind>>

const chunkRows = 2048
/** The appender buffers chunks in memory that no budget counts, and blocks the main thread while it writes them to the table: a few at a time. */
export const chunksOfFlush = 4

export interface Stage {
  /** Name to select from, after `finish`. */
  readonly table: string
  readonly rows: number
  push(row: readonly DuckDBValue[]): void
  /** Writes full chunks. */
  drain(): Promise<void>
  /** Makes the rows visible to statements. A stage without rows has no table. */
  finish(): Promise<void>
  /** Empties it for new rows. */
  clear(): void
}

/** `column` of the stage `alias`, with the type of the target table. */
export const readStaged = (columns: StageColumns, column: string, alias: string): string =>
  kinds[columns[column]!].read(`${alias}.${column}`)

export function createStage(connection: DuckDBConnection, name: string, columns: StageColumns): Stage {
  const names = Object.keys(columns)
  const types = names.map((column) => kinds[columns[column]!].type)
  const empty = () => names.map((): DuckDBValue[] => [])
  let full: DuckDBValue[][][] = []
  let pending = empty()
  let rows = 0
  let unflushed = 0
  let appender: DuckDBAppender | null = null
  let chunk: DuckDBDataChunk | null = null

  async function begin() {
    unflushed = 0
    // Created again: deleted rows would stay in the temporary database, which is never checkpointed.
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE ${name} (${names.map((column) => `${column} ${kinds[columns[column]!].sql}`).join(', ')})`,
    )
    return connection.createAppender(name, 'main', 'temp')
  }

  async function write(values: readonly DuckDBValue[][]) {
    appender ??= await begin()
    // One chunk is reused: the memory of a chunk is freed only when its JavaScript object is collected.
    chunk ??= DuckDBDataChunk.create(types)
    chunk.reset()
    chunk.rowCount = values[0]!.length
    for (const [i, column] of values.entries()) chunk.setColumnValues(i, column)
    appender.appendDataChunk(chunk)
    if (++unflushed < chunksOfFlush) return
    appender.flushSync()
    unflushed = 0
  }

  return {
    table: `temp.main.${name}`,
    get rows() {
      return rows
    },
    push(row) {
      for (let i = 0; i < pending.length; i++) pending[i]!.push(row[i]!)
      rows++
      if (pending[0]!.length < chunkRows) return
      full.push(pending)
      pending = empty()
    },
    async drain() {
      for (const values of full.splice(0)) await write(values)
    },
    async finish() {
      await this.drain()
      if (pending[0]!.length > 0) await write(pending)
      pending = empty()
      appender?.closeSync()
      appender = null
    },
    clear() {
      appender?.closeSync()
      appender = null
      full = []
      pending = empty()
      rows = 0
    },
  }
}
