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
  /** Name to select from. */
  readonly table: string
  readonly columns: StageColumns
  readonly rows: number
  /** Empties it for new rows. */
  open(): Promise<void>
  push(row: readonly DuckDBValue[]): void
  /** Makes the rows visible to statements. */
  finish(): void
}

/** `column` of the stage `alias`, as the real table wants it. */
export const readStaged = (columns: StageColumns, column: string, alias: string): string =>
  kinds[columns[column]!].read(`${alias}.${column}`)

export async function createStage(connection: DuckDBConnection, name: string, columns: StageColumns): Promise<Stage> {
  const names = Object.keys(columns)
  const types = names.map((column) => kinds[columns[column]!].type)
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE ${name} (${names.map((column) => `${column} ${kinds[columns[column]!].sql}`).join(', ')})`,
  )
  let appender: DuckDBAppender | null = null
  let pending = names.map((): DuckDBValue[] => [])
  let rows = 0

  function writeChunk() {
    const count = pending[0]!.length
    if (count === 0) return
    const chunk = DuckDBDataChunk.create(types, count)
    for (const [i, values] of pending.entries()) chunk.setColumnValues(i, values)
    appender!.appendDataChunk(chunk)
    pending = names.map(() => [])
  }
  return {
    table: `temp.main.${name}`,
    columns,
    get rows() {
      return rows
    },
    async open() {
      appender?.clear()
      if (rows) await connection.run(`TRUNCATE temp.main.${name}`)
      rows = 0
      pending = names.map(() => [])
      appender = await connection.createAppender(name, 'main', 'temp')
    },
    push(row) {
      for (let i = 0; i < pending.length; i++) pending[i]!.push(row[i]!)
      rows++
      if (pending[0]!.length === chunkRows) writeChunk()
    },
    finish() {
      writeChunk()
      appender?.closeSync()
      appender = null
    },
  }
}
