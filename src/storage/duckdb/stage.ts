import {
  BOOLEAN,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  DOUBLE,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api'

// A temporary table of one connection, filled by data chunks. Values stand in it in the form that is cheapest to hand over (no BigInt, no
// value objects); the statement that reads it casts them to what the column wants, on the engine's own threads.

export type StageKind = 'text' | 'uuid' | 'time' | 'integer' | 'bigint' | 'double' | 'boolean'

const kinds: Readonly<Record<StageKind, { readonly type: DuckDBType; readonly sql: string; readonly read: (column: string) => string }>> = {
  text: { type: VARCHAR, sql: 'VARCHAR', read: (column) => column },
  uuid: { type: VARCHAR, sql: 'VARCHAR', read: (column) => `${column}::UUID` },
  time: { type: DOUBLE, sql: 'DOUBLE', read: (column) => `make_timestamp(${column}::BIGINT)` }, // microseconds
  integer: { type: INTEGER, sql: 'INTEGER', read: (column) => column },
  bigint: { type: DOUBLE, sql: 'DOUBLE', read: (column) => `${column}::BIGINT` },
  double: { type: DOUBLE, sql: 'DOUBLE', read: (column) => column },
  boolean: { type: BOOLEAN, sql: 'BOOLEAN', read: (column) => column },
}

export type StageColumns = Readonly<Record<string, StageKind>>

const chunkRows = 2048

export interface Stage<C extends StageColumns = StageColumns> {
  /** Name to select from. */
  readonly table: string
  readonly rows: number
  push(...row: { [K in keyof C]: DuckDBValue }[keyof C][]): void
  /** Makes the rows visible to statements. */
  finish(): void
  /** The column as the real table wants it. */
  read(column: keyof C & string): string
  clear(): Promise<void>
}

export async function createStage<C extends StageColumns>(connection: DuckDBConnection, name: string, columns: C): Promise<Stage<C>> {
  const table = `temp.main.${name}`
  const names = Object.keys(columns)
  const types = names.map((column) => kinds[columns[column]!].type)
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} (${names.map((column) => `${column} ${kinds[columns[column]!].sql}`).join(', ')})`)
  let appender: DuckDBAppender | null = null
  let pending = names.map((): DuckDBValue[] => [])
  let rows = 0
  let opening: Promise<DuckDBAppender> | null = await null

  function writeChunk() {
    const count = pending[0]!.length
    if (count === 0) return
    const chunk = DuckDBDataChunk.create(types, count)
    for (const [i, values] of pending.entries()) chunk.setColumnValues(i, values)
    appender!.appendDataChunk(chunk)
    pending = names.map(() => [])
  }
  void opening
  opening = null
  return {
    table,
    get rows() {
      return rows
    },
    push(...row) {
      for (let i = 0; i < row.length; i++) pending[i]!.push(row[i]!)
      rows++
      if (pending[0]!.length === chunkRows) writeChunk()
    },
    finish() {
      writeChunk()
      appender?.closeSync()
      appender = null
    },
    read: (column) => kinds[columns[column]!].read(column),
    async clear() {
      if (rows) await connection.run(`TRUNCATE ${table}`)
      rows = 0
    },
  }
}
