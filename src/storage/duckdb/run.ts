import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { type RecordBatch, Table } from 'apache-arrow'
import { QueryError, type WaymarkError } from '../../errors/errors.ts'
import { type ResultColumn, recordBatch, WideColumns } from './arrow.ts'
import { engineError } from './engine-errors.ts'
import type { Instance } from './instance.ts'

export interface Statement {
  readonly sql: string
  readonly params: readonly (string | number | boolean | bigint | null)[]
  readonly columns: readonly ResultColumn[]
}

export interface RunOptions {
  readonly signal?: AbortSignal
  readonly timeoutSeconds?: number
}

const defaultTimeout = 60

/** Runs statements on connections lent by the instance. */
export const statementRunner = (instance: Pick<Instance, 'use' | 'beside' | 'turn'>) => ({
  run: (statement: Statement, options: RunOptions = {}): Promise<Table> =>
    instance.use((connection) => runStatement(connection, statement, options), options.signal),
  /** On a connection of its own: whoever reads slowly takes nobody's place, but for the moments in which the engine works. */
  async *stream(statement: Statement, options: StreamOptions = {}): AsyncGenerator<RecordBatch, void, undefined> {
    const { connection, close } = await instance.beside()
    try {
      yield* streamStatement(connection, statement, { ...options, turn: (work) => instance.turn(work, options.signal) })
    } finally {
      await close()
    }
  },
})

/** Runs a statement and answers its rows as one Arrow table. The connection is the caller's, and idle again when this settles. */
export async function runStatement(connection: DuckDBConnection, statement: Statement, options: RunOptions = {}): Promise<Table> {
  return guarded(connection, statement, options, async () => {
    const prepared = await prepare(connection, statement)
    try {
      const result = await prepared.run()
      const shape = { types: result.columnTypes(), names: result.columnNames(), columns: statement.columns }
      const batch = recordBatch(await result.fetchAllChunks(), shape)
      return new Table(batch.schema, [batch])
    } finally {
      prepared.destroySync()
    }
  })
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
        return await guarded(connection, statement, { signal: options.signal, timeoutSeconds: Math.max(0.001, left) }, work)
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
        const chunks = []
        let rows = 0
        while (rows < most) {
          const chunk = await result.fetchChunk()
          if (!chunk || chunk.rowCount === 0) break
          chunks.push(chunk)
          rows += chunk.rowCount
        }
        return { batch: rows > 0 || isFirst ? recordBatch(chunks, shape) : null, rows }
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

async function guarded<T>(connection: DuckDBConnection, { sql }: Statement, options: RunOptions, work: () => Promise<T>): Promise<T> {
  const watch = watchOver(connection, options)
  try {
    watch.throwIfStopped()
    const answer = await work()
    watch.throwIfStopped()
    return answer
  } catch (error) {
    throw watch.stopped() ?? engineError(error, sql)
  } finally {
    watch.end()
  }
}

/** Interrupts the connection when the caller cancels or the time is up. */
function watchOver(connection: DuckDBConnection, { signal, timeoutSeconds = defaultTimeout }: RunOptions) {
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
  return {
    stopped: () => reason,
    throwIfStopped() {
      if (reason) throw reason
    },
    end() {
      clearTimeout(timer)
      clearInterval(again)
      signal?.removeEventListener('abort', cancel)
    },
  }
}
