import {
  BIGINT,
  BOOLEAN,
  type DuckDBAppender,
  type DuckDBConnection,
  type DuckDBType,
  INTEGER,
  TIMESTAMP,
  UUID,
  VARCHAR,
} from '@duckdb/node-api'
import type { ChangedValue, ColumnKind } from '../../../language/catalog/changed-tables.ts'
import { Arena, BigIntegers, chunkRows, Integers, Nulls, RawChunk, type RawColumn, RawTexts, SmallIntegers, Uuids } from './raw-chunk.ts'

// A temporary table of one connection, filled in data chunks. Its rows are laid out as the engine has them, column by column.

/** A column that takes values. */
interface StageColumn extends RawColumn {
  readonly nulls: Nulls
  put(row: number, value: Exclude<ChangedValue, null>): void
}

interface Kind {
  readonly type: DuckDBType
  make(arena: Arena): StageColumn
}

const withPut = <C extends RawColumn>(column: C, put: (column: C, row: number, value: never) => void): StageColumn => ({
  buffer: column.buffer,
  bytesPerRow: column.bytesPerRow,
  nulls: new Nulls(),
  put: (row, value) => put(column, row, value as never),
})

const bigIntegers = () => withPut(new BigIntegers(), (column, row, value: number) => column.put(row, value))
const kinds: Readonly<Record<ColumnKind, Kind>> = {
  text: { type: VARCHAR, make: (arena) => new StageTexts(arena) },
  uuid: { type: UUID, make: () => withPut(new Uuids(), (column, row, value: string) => column.put(row, value)) },
  time: { type: TIMESTAMP, make: bigIntegers }, // microseconds
  integer: {
    type: INTEGER,
    make: () =>
      withPut(new Integers(), ({ values }, row, value: number) => {
        values[row] = value
      }),
  },
  bigint: { type: BIGINT, make: bigIntegers },
  boolean: {
    type: BOOLEAN,
    make: () =>
      withPut(new SmallIntegers(), ({ values }, row, value: boolean) => {
        values[row] = Number(value)
      }),
  },
}

class StageTexts extends RawTexts implements StageColumn {
  readonly nulls = new Nulls()
}

export type StageColumns = Readonly<Record<string, ColumnKind>>

/** The appender buffers chunks in memory that no budget counts, and blocks the main thread while it writes them to the table: a few at a time. */
export const chunksOfFlush = 4
/** Most stages have few rows. */
const leastArena = 1 << 14

export interface Stage {
  /** Name to select from, after `finish`. */
  readonly table: string
  readonly rows: number
  push(row: readonly ChangedValue[]): void
  /** Writes full chunks. */
  drain(): Promise<void>
  /** Makes the rows visible to statements. A stage without rows has no table. */
  finish(): Promise<void>
  /** Empties it for new rows. */
  clear(): void
}

/** The rows of one chunk while they are collected. */
class StageChunk {
  private readonly arena = new Arena(leastArena)
  private readonly columns: readonly StageColumn[]
  private readonly chunk: RawChunk
  rows = 0

  constructor(of: readonly Kind[]) {
    this.columns = of.map(({ make }) => make(this.arena))
    this.chunk = new RawChunk(
      of.map(({ type }) => type),
      this.columns,
      this.arena,
    )
  }

  get isFull(): boolean {
    return this.rows === chunkRows || this.arena.isFull
  }

  push(values: readonly ChangedValue[]): void {
    const row = this.rows++
    for (let i = 0; i < this.columns.length; i++) {
      const column = this.columns[i]!
      const value = values[i]!
      if (value === null) column.nulls.put(row)
      else column.put(row, value)
    }
  }

  append(appender: DuckDBAppender): void {
    this.chunk.append(appender, this.rows)
    this.rows = 0
  }

  clear(): void {
    this.rows = 0
    this.arena.clear()
    for (const { nulls } of this.columns) nulls.clear()
  }
}

export function createStage(connection: DuckDBConnection, name: string, columns: StageColumns): Stage {
  const of = Object.values(columns).map((kind) => kinds[kind])
  const definitions = Object.keys(columns).map((column, i) => `${column} ${of[i]!.type}`)
  let full: StageChunk[] = []
  /** Kept for the next rows: the memory of a chunk is freed only when its JavaScript object is collected. */
  const free: StageChunk[] = []
  let pending: StageChunk | null = null
  let rows = 0
  let unflushed = 0
  let appender: DuckDBAppender | null = null

  async function begin() {
    unflushed = 0
    // Created again: deleted rows would stay in the temporary database, which is never checkpointed.
    await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} (${definitions.join(', ')})`)
    return connection.createAppender(name, 'main', 'temp')
  }

  async function write(chunk: StageChunk) {
    appender ??= await begin()
    chunk.append(appender)
    if (free.length === 0) free.push(chunk)
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
      pending ??= free.pop() ?? new StageChunk(of)
      pending.push(row)
      rows++
      if (!pending.isFull) return
      full.push(pending)
      pending = null
    },
    async drain() {
      for (const chunk of full.splice(0)) await write(chunk)
    },
    async finish() {
      await this.drain()
      if (pending && pending.rows > 0) await write(pending)
      pending = null
      appender?.closeSync()
      appender = null
    },
    clear() {
      appender?.closeSync()
      appender = null
      full = []
      pending?.clear()
      rows = 0
    },
  }
}
