import {
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api'

// A temporary table of one connection, filled by data chunks. Values stand in it in the form that is cheapest to hand over (no BigInt, no
// value objects); the statement that reads it casts them to what the column wants, on the engine's own threads.

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

export interface Stage {
  /** Name to select from, after `finish`. */
  readonly table: string
  readonly rows: number
  push(row: readonly DuckDBValue[]): void
  /** Makes the rows visible to statements. A stage without rows has no table. */
  finish(): Promise<void>
  /** Empties it for new rows. */
  clear(): void
}

/** `column` of the stage `alias`, as the real table wants it. */
export const readStaged = (columns: StageColumns, column: string, alias: string): string =>
  kinds[columns[column]!].read(`${alias}.${column}`)

export function createStage(connection: DuckDBConnection, name: string, columns: StageColumns): Stage {
  const names = Object.keys(columns)
  const types = names.map((column) => kinds[columns[column]!].type)
  const empty = () => names.map((): DuckDBValue[] => [])
  let chunks: DuckDBDataChunk[] = []
  let pending = empty()
  let rows = 0
  let table: 'absent' | 'empty' | 'full' = 'absent'

  function closeChunk() {
    const count = pending[0]!.length
    if (count === 0) return
    const chunk = DuckDBDataChunk.create(types, count)
    for (const [i, values] of pending.entries()) chunk.setColumnValues(i, values)
    chunks.push(chunk)
    pending = empty()
  }
  return {
    table: `temp.main.${name}`,
    get rows() {
      return rows
    },
    push(row) {
      for (let i = 0; i < pending.length; i++) pending[i]!.push(row[i]!)
      rows++
      if (pending[0]!.length === chunkRows) closeChunk()
    },
    async finish() {
      closeChunk()
      if (table === 'absent')
        await connection.run(`CREATE TEMP TABLE ${name} (${names.map((column) => `${column} ${kinds[columns[column]!].sql}`).join(', ')})`)
      else if (table === 'full') await connection.run(`TRUNCATE temp.main.${name}`)
      table = 'full'
      const appender = await connection.createAppender(name, 'main', 'temp')
      for (const chunk of chunks) appender.appendDataChunk(chunk)
      appender.closeSync()
      chunks = []
    },
    clear() {
      chunks = []
      pending = empty()
      rows = 0
    },
  }
}
