import type { DuckDBConnection, DuckDBMaterializedResult, DuckDBPreparedStatement } from '@duckdb/node-api'
import { type RecordBatch, Table } from 'apache-arrow'
import { QueryError, type WaymarkError } from '../../errors/errors.ts'
import type { Progress } from '../../lib/progress.ts'
import { BatchBuilder, type BatchShape, type ResultColumn, WideColumns } from './arrow.ts'
import { engineError } from './engine-errors.ts'
import type { Instance } from './instance.ts'
import type { MemoryWatch } from './memory-watch.ts'

export interface Statement {
  readonly sql: string
  readonly params: readonly (string | number | boolean | bigint | null)[]
  readonly columns: readonly ResultColumn[]
}

export interface RunOptions {
  readonly signal?: AbortSignal
  readonly timeoutSeconds?: number
  /** Is told how far the statement is. */
  readonly progress?: Progress
  /** Stops it where the process grows too much. */
  readonly memory?: MemoryWatch
}

const defaultTimeout = 60
const rowsPerChunk = 2048
const chunksPerPart = 32

/** Takes some of the rows of an answer, in the order of the answer. Their memory is used again once it returns. */
export type TakePart = (part: Table) => void

/** Runs statements on connections lent by the instance. */
export const statementRunner = (instance: Pick<Instance, 'use' | 'beside' | 'turn' | 'memoryLimit' | 'threads' | 'memory'>) => ({
  memoryLimit: instance.memoryLimit,
  threads: instance.threads,
  run: (statement: Statement, options: RunOptions = {}): Promise<Table> =>
    instance.use((connection) => runStatement(connection, statement, { ...options, memory: instance.memory }), options.signal),
  runInParts: (statement: Statement, take: TakePart, options: RunOptions = {}): Promise<void> =>
    instance.use((connection) => runInParts(connection, statement, take, { ...options, memory: instance.memory }), options.signal),
  /** On a connection of its own: whoever reads slowly takes nobody's place, but for the moments in which the engine works. */
  async *stream(statement: Statement, options: StreamOptions = {}): AsyncGenerator<RecordBatch, void, undefined> {
    const { connection, close } = await instance.beside()
    try {
      yield* streamStatement(connection, statement, {
        ...options,
        memory: instance.memory,
        turn: (work) => instance.turn(work, options.signal),
      })
    } finally {
      await close()
    }
  },
})

/** Runs a statement and answers its rows as one Arrow table. The connection is the caller's, and idle again when this settles. */
export async function runStatement(connection: DuckDBConnection, statement: Statement, options: RunOptions = {}): Promise<Table> {
  return guarded(connection, statement, options, async (watch) => {
    const { result, shape, end } = await execute(connection, statement)
    try {
      const builder = new BatchBuilder(shape, result.rowCount)
      for (let chunk = 0, chunks = result.chunkCount; chunk < chunks; chunk++) {
        builder.append(result.getChunk(chunk))
        if (chunk % chunksPerPart === chunksPerPart - 1) await watch.turn()
      }
      return tableOf(builder)
    } finally {
      end()
    }
  })
}

/** The same with the rows handed over some ten thousand at a time, so that the process need never hold them all as columns. */
export async function runInParts(
  connection: DuckDBConnection,
  statement: Statement,
  take: TakePart,
  options: RunOptions = {},
): Promise<void> {
  return guarded(connection, statement, options, async (watch) => {
    const { result, shape, end } = await execute(connection, statement)
    try {
      const builder = new BatchBuilder(shape, Math.min(result.rowCount, chunksPerPart * rowsPerChunk))
      for (let chunk = 0, chunks = result.chunkCount; chunk < chunks; builder.restart()) {
        const last = Math.min(chunks, chunk + chunksPerPart)
        while (chunk < last) builder.append(result.getChunk(chunk++))
        take(tableOf(builder))
        await watch.turn()
      }
    } finally {
      end()
    }
  })
}

interface Executed {
  readonly result: DuckDBMaterializedResult
  readonly shape: BatchShape
  end(): void
}

async function execute(connection: DuckDBConnection, statement: Statement): Promise<Executed> {
  const prepared = await prepare(connection, statement)
  try {
    const result = await prepared.run()
    const shape = { types: result.columnTypes(), names: result.columnNames(), columns: statement.columns }
    return { result, shape, end: () => prepared.destroySync() }
  } catch (error) {
    prepared.destroySync()
    throw error
  }
}

function tableOf(builder: BatchBuilder): Table {
  const batch = builder.finish()
  return new Table(batch.schema, [batch])
}

export interface StreamOptions extends RunOptions {
  /** About how many rows a batch has. */
  readonly batchRows?: number
}
interface Turns {
  /** Waits until the engine has room for one step. */
  turn<T>(work: () => Promise<T>): Promise<T>
}
const always: Turns = { turn: (work) => work() }

/** The same without ever holding all rows: batches as DuckDB makes them. The time limit counts the engine's time, not the reader's. */
export async function* streamStatement(
  connection: DuckDBConnection,
  statement: Statement,
  { turn = always.turn, ...options }: StreamOptions & Partial<Turns> = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  const most = options.batchRows ?? 65_536
  let left = options.timeoutSeconds ?? defaultTimeout
  const step = <T>(work: () => Promise<T>): Promise<T> =>
    turn(async () => {
      const started = performance.now()
      try {
        return await guarded(connection, statement, { ...options, timeoutSeconds: Math.max(0.001, left) }, work)
      } finally {
        left -= (performance.now() - started) / 1000
      }
    })
  let prepared: DuckDBPreparedStatement | undefined
  try {
    const result = await step(async () => {
      prepared = await prepare(connection, statement)
      return prepared.stream()
    })
    const names = result.columnNames()
    const shape = { types: result.columnTypes(), names, columns: statement.columns, stream: new WideColumns() }
    for (let isFirst = true; ; isFirst = false) {
      const { batch, rows } = await step(async () => {
        const builder = new BatchBuilder(shape)
        while (builder.rows < most) {
          const chunk = await result.fetchChunk()
          if (!chunk || chunk.rowCount === 0) break
          builder.append(chunk)
        }
        return { batch: builder.rows > 0 || isFirst ? builder.finish() : null, rows: builder.rows }
      })
      if (batch) yield batch
      if (rows < most) return
    }
  } finally {
    prepared?.destroySync()
  }
}

/** The statement with its values bound by their types. The caller destroys it. */
export async function prepare(
  connection: DuckDBConnection,
  { sql, params }: Pick<Statement, 'sql' | 'params'>,
): Promise<DuckDBPreparedStatement> {
  const prepared = await connection.prepare(sql)
  params.forEach((value, i) => {
    if (value === null) prepared.bindNull(i + 1)
    else if (typeof value === 'string') prepared.bindVarchar(i + 1, value)
    else if (typeof value === 'boolean') prepared.bindBoolean(i + 1, value)
    else if (typeof value === 'bigint') prepared.bindBigInt(i + 1, value)
    else if (Number.isInteger(value) && Math.abs(value) < 2 ** 31) prepared.bindInteger(i + 1, value)
    else if (Number.isSafeInteger(value)) prepared.bindBigInt(i + 1, BigInt(value))
    else prepared.bindDouble(i + 1, value)
  })
  return prepared
}

async function guarded<T>(
  connection: DuckDBConnection,
  { sql }: Statement,
  options: RunOptions,
  work: (watch: Watch) => Promise<T>,
): Promise<T> {
  const watch = watchOver(connection, options)
  const arrive = options.progress?.follow(() => {
    const { rows_processed, total_rows_to_process } = connection.progress
    return { read: Number(rows_processed), total: Number(total_rows_to_process) }
  })
  try {
    watch.throwIfStopped()
    const answer = await work(watch)
    watch.throwIfStopped()
    return answer
  } catch (error) {
    throw watch.stopped() ?? engineError(error, sql)
  } finally {
    arrive?.()
    watch.end()
  }
}

type Watch = ReturnType<typeof watchOver>
const everybodyElse = (): Promise<void> => new Promise((resume) => setImmediate(resume))

/** Interrupts the connection when the caller cancels, the time is up, or the process grows too much. */
function watchOver(connection: DuckDBConnection, { signal, timeoutSeconds = defaultTimeout, memory }: RunOptions) {
  let reason: WaymarkError | null = signal?.aborted ? new QueryError('query-cancelled', {}) : null
  let again: NodeJS.Timeout | undefined
  const stop = (error: WaymarkError) => {
    reason ??= error
    connection.interrupt()
    // An interrupt that comes between two steps of the engine is lost: ask until it has stopped.
    again ??= setInterval(() => connection.interrupt(), 20)
  }
  const cancel = () => stop(new QueryError('query-cancelled', {}))
  signal?.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(() => stop(new QueryError('query-timeout', { seconds: timeoutSeconds })), timeoutSeconds * 1000)
  const leave = memory?.follow(() => stop(new QueryError('query-memory', { message: '' })))
  return {
    stopped: () => reason,
    throwIfStopped() {
      if (reason) throw reason
    },
    /** In the middle of a long loop: others take their turn, and whoever has been stopped goes no further. */
    async turn() {
      await everybodyElse()
      if (reason) throw reason
    },
    end() {
      clearTimeout(timer)
      leave?.()
      clearInterval(again)
      signal?.removeEventListener('abort', cancel)
    },
  }
}
