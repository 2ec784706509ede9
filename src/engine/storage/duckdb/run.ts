import { dirname } from 'node:path'
import type { DuckDBConnection, DuckDBDataChunk, DuckDBMaterializedResult, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api'
import { type RecordBatch, Table } from 'apache-arrow'
import { QueryError, WaymarkError } from '../../../errors/errors.ts'
import { type ScheduledStatement, type StatementScheduler, unscheduled } from '../../../lib/flow/statement-scheduler.ts'
import type { RowsFile, RunOptions, Statement, Statements, StreamOptions, TakePart, WrittenRows } from '../../execution/ports.ts'
import { withinReserve } from '../files/disk-reserve.ts'
import { BatchBuilder, type BatchShape, WideColumns } from './arrow.ts'
import { attachedFailure } from './attached/failure.ts'
import { engineError } from './engine-errors.ts'
import { type Instance, isDiskFull } from './instance.ts'
import type { MemoryWatch } from './memory-watch.ts'
import { endedEarly, hasFailed, rowsUnread } from './stream-failure.ts'
import { Bytes } from './vector-memory.ts'
import { bytesOf, compressFile, copyStatement, isCompressedAfterwards } from './writing/write-file.ts'

/** How one statement is run. */
interface EngineRunOptions extends RunOptions {
  /** Stops the statement if the process's memory grows too much. */
  readonly memory?: MemoryWatch
  /** Called when the engine has produced all rows. */
  readonly hasRows?: () => void
}

const rowsPerChunk = 2048
const chunksPerPart = 32
const bytesPerPart = 4 * 1024 ** 2
const bytesPerBatch = 2 * bytesPerPart

const during = (turn: ScheduledStatement, options: EngineRunOptions): EngineRunOptions => ({
  ...options,
  signal: options.signal ? AbortSignal.any([options.signal, turn.signal]) : turn.signal,
  hasRows: () => turn.hasRows(),
})

/** Runs scheduled statements on connections of the instance. */
export const statementRunner = (
  instance: Pick<Instance, 'use' | 'beside' | 'memory'>,
  turns: StatementScheduler,
): Statements & Required<Pick<Statements, 'writeFile'>> => ({
  run: (statement: Statement, options: RunOptions = {}): Promise<Table> =>
    turns.schedule((turn) => {
      const inTurn = during(turn, { ...options, memory: instance.memory })
      return instance.use((connection) => runStatement(connection, statement, inTurn), inTurn.signal)
    }),
  runInParts: (statement: Statement, take: TakePart, options: RunOptions = {}): Promise<void> =>
    turns.schedule((turn) => {
      const inTurn = during(turn, { ...options, memory: instance.memory })
      return instance.use((connection) => runInParts(connection, statement, take, inTurn), inTurn.signal)
    }),
  /** All rows as batches of one table, without a second copy in the engine. Texts are plain. */
  async gather(statement: Statement, options: RunOptions = {}): Promise<Table> {
    const wide = new WideColumns()
    for (;;) {
      const batches: RecordBatch[] = []
      try {
        for await (const batch of streamed(instance, statement, { ...options, wide, turns })) batches.push(batch)
        return new Table(batches[0]!.schema, batches)
      } catch (error) {
        if (!wide.hasWidened()) throw error
      }
    }
  },
  stream: (statement, options = {}) => streamed(instance, statement, { ...options, turns }),
  writeFile: (statement, file, options = {}) =>
    withinReserve(dirname(file.path), options.signal, (signal) =>
      turns.schedule((turn) => {
        const inTurn = during(turn, { ...options, signal, memory: instance.memory })
        return instance.use((connection) => writeFile(connection, statement, file, inTurn), inTurn.signal)
      }),
    ),
})

/** On a connection of its own. */
async function* streamed(
  instance: Pick<Instance, 'beside' | 'memory'>,
  statement: Statement,
  options: EngineStreamOptions & { readonly turns: StatementScheduler },
): AsyncGenerator<RecordBatch, void, undefined> {
  const { connection, close } = await instance.beside()
  try {
    yield* streamStatement(connection, statement, { ...options, memory: instance.memory })
  } finally {
    await close()
  }
}

/** Runs a statement and returns its rows as one Arrow table. The connection is the caller's, and idle again when this settles. */
export async function runStatement(connection: DuckDBConnection, statement: Statement, options: EngineRunOptions = {}): Promise<Table> {
  return guarded(connection, statement, options, async (watch) => {
    const { result, shape, end } = await execute(connection, statement)
    try {
      watch.throwIfStopped()
      options.hasRows?.()
      const builder = new BatchBuilder(shape, result.rowCount, new Bytes(options.mostBytes))
      let bytesThen = 0
      for (let chunk = 0, chunks = result.chunkCount; chunk < chunks; chunk++) {
        builder.append(result.getChunk(chunk))
        const isMuch = builder.bytes.taken - bytesThen >= bytesPerPart
        if (!isMuch && chunk % chunksPerPart !== chunksPerPart - 1) continue
        bytesThen = builder.bytes.taken
        await watch.turn()
      }
      return tableOf(builder)
    } finally {
      end()
    }
  })
}

/** The same, with rows passed on in parts of some ten thousand, so that the process never holds all of them as columns. */
async function runInParts(
  connection: DuckDBConnection,
  statement: Statement,
  take: TakePart,
  options: EngineRunOptions = {},
): Promise<void> {
  return guarded(connection, statement, options, async (watch) => {
    const { result, shape, end } = await execute(connection, statement)
    try {
      watch.throwIfStopped()
      options.hasRows?.()
      const builder = new BatchBuilder(shape, Math.min(result.rowCount, chunksPerPart * rowsPerChunk))
      for (let chunk = 0, chunks = result.chunkCount; chunk < chunks; builder.restart()) {
        const last = Math.min(chunks, chunk + chunksPerPart)
        while (chunk < last) builder.append(result.getChunk(chunk++))
        await take(tableOf(builder))
        await watch.turn()
      }
    } finally {
      end()
    }
  })
}

/** Writes the rows into a file of the engine. */
async function writeFile(
  connection: DuckDBConnection,
  statement: Statement,
  file: RowsFile,
  options: EngineRunOptions = {},
): Promise<WrittenRows> {
  const isTwoSteps = isCompressedAfterwards(file)
  const path = isTwoSteps ? `${file.path}.plain` : file.path
  const copy = copyStatement(statement, file, path)
  const rows = await guarded(connection, copy, options, async () => {
    await begin(connection)
    const prepared = await prepare(connection, copy)
    try {
      const { rowsChanged } = await prepared.run()
      await end(connection)
      return rowsChanged
    } finally {
      prepared.destroySync()
    }
  }).catch((error: unknown) => {
    throw isDiskFull(error) || (error instanceof Error && isDiskFull(error.cause))
      ? new WaymarkError('no-space', {}, { cause: error })
      : error
  })
  if (isTwoSteps) await compressFile(path, file.path, file.compression)
  return { rows, bytes: await bytesOf(file.path) }
}

interface Executed {
  readonly result: DuckDBMaterializedResult
  readonly shape: BatchShape
  end(): void
}

async function execute(connection: DuckDBConnection, statement: Statement): Promise<Executed> {
  await begin(connection)
  const prepared = await prepare(connection, statement)
  try {
    const result = await prepared.run()
    await end(connection)
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

export interface EngineStreamOptions extends EngineRunOptions, StreamOptions {
  /** Its 128-bit columns, as known from a previous run. */
  readonly wide?: WideColumns
}

/** The same without ever holding all rows: batches as DuckDB produces them, each scheduled on its own. */
export async function* streamStatement(
  connection: DuckDBConnection,
  statement: Statement,
  { turns, ...options }: EngineStreamOptions & { readonly turns?: StatementScheduler } = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  const most = options.batchRows ?? 65_536
  const { schedule } = turns ?? unscheduled()
  let prepared: DuckDBPreparedStatement | undefined
  let shape: BatchShape | undefined
  const step = <T>(work: () => Promise<T>, canRestart: boolean): Promise<T> =>
    schedule((one) => guarded(connection, statement, during(one, options), work), { canRestart })
  const next = async (chunks: ChunkReader, isFirst = false) => {
    const builder = new BatchBuilder(shape!, most)
    while (builder.rows < most && builder.bytes.taken < bytesPerBatch && (await chunks.appendTo(builder)));
    if (chunks.hasFailed) throw await streamFailure(connection, statement, shape!.names.length)
    return builder.rows > 0 || isFirst ? builder.finish() : null
  }
  try {
    const { chunks, first } = await step(async () => {
      prepared?.destroySync() // of a first try that made room for others
      await begin(connection)
      prepared = await prepare(connection, statement)
      const result = await prepared.stream()
      const names = result.columnNames()
      shape = { types: result.columnTypes(), names, columns: statement.columns, stream: options.wide ?? new WideColumns() }
      const chunks = new ChunkReader(result)
      return { chunks, first: await next(chunks, true) }
    }, true)
    for (let batch = first; batch; batch = chunks.isOver ? null : await step(() => next(chunks), false)) yield batch
  } finally {
    prepared?.destroySync()
    await end(connection).catch(() => undefined) // of a failed step it has ended
  }
}

async function streamFailure(connection: DuckDBConnection, statement: Statement, columns: number): Promise<unknown> {
  await end(connection).catch(() => undefined) // its transaction takes no other statement
  const prepared = await prepare(connection, { ...statement, sql: rowsUnread(statement.sql, columns) })
  try {
    await prepared.run()
    return endedEarly()
  } catch (error) {
    return error
  } finally {
    prepared.destroySync()
  }
}

/** The chunks of a result in smaller parts: with very long texts a whole chunk would be too large. */
class ChunkReader {
  isOver = false
  private chunk: DuckDBDataChunk | null = null
  private row = 0
  private step = 64

  constructor(private readonly result: DuckDBResult) {}

  get hasFailed(): boolean {
    return this.isOver && hasFailed(this.result)
  }

  /** False at the end of the rows. */
  async appendTo(builder: BatchBuilder): Promise<boolean> {
    this.chunk ??= await this.result.fetchChunk()
    if (!this.chunk || this.chunk.rowCount === 0) {
      this.isOver = true
      return false
    }
    const end = Math.min(this.chunk.rowCount, this.row + this.step)
    const before = builder.bytes.taken
    builder.append(this.chunk, this.row, end)
    const isMuch = builder.bytes.taken - before > bytesPerBatch / 8
    this.step = isMuch ? Math.max(1, this.step >> 2) : Math.min(rowsPerChunk, this.step * 2)
    this.row = end
    if (end === this.chunk.rowCount) {
      this.chunk = null
      this.row = 0
    }
    return true
  }
}

/**
 * A statement is planned and executed in one transaction. A plan leaves out what the values of its tables decide (`log_seq <= 7` where no event has more), and
 * outside of a transaction it would be executed over rows that were committed since: https://github.com/duckdb/duckdb/issues/23704
 */
const begin = (connection: DuckDBConnection) => connection.run('BEGIN TRANSACTION')
/** It has only read. */
const end = (connection: DuckDBConnection) => connection.run('ROLLBACK')

/** The statement with its values bound by type. The caller destroys it. */
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
  { sql, attached }: Statement,
  options: EngineRunOptions,
  work: (watch: Watch) => Promise<T>,
): Promise<T> {
  const watch = watchOver(connection, options)
  const arrive = options.progress?.follow(() => {
    const { rows_processed, total_rows_to_process } = connection.progress
    return { read: Number(rows_processed), total: Number(total_rows_to_process) }
  })
  let isDone = false
  try {
    watch.throwIfStopped()
    const answer = await work(watch)
    watch.throwIfStopped()
    isDone = true
    return answer
  } catch (error) {
    throw watch.stopped() ?? attachedFailure(error, attached) ?? engineError(error, sql)
  } finally {
    arrive?.()
    watch.end()
    if (!isDone) await end(connection).catch(() => undefined) // an interrupt would have ended this, too
  }
}

type Watch = ReturnType<typeof watchOver>
const everybodyElse = (): Promise<void> => new Promise((resume) => setImmediate(resume))

/** Interrupts the connection if the signal aborts or the process's memory grows too much. */
function watchOver(connection: DuckDBConnection, { signal, memory }: EngineRunOptions) {
  const wanted = () => (signal?.reason instanceof WaymarkError ? signal.reason : new QueryError('query-cancelled', {}))
  let reason: WaymarkError | null = signal?.aborted ? wanted() : null
  let again: NodeJS.Timeout | undefined
  const stop = (error: WaymarkError) => {
    reason ??= error
    connection.interrupt()
    // An interrupt between two steps of the engine is lost, so it is repeated until the statement has stopped.
    again ??= setInterval(() => connection.interrupt(), 20)
  }
  const cancel = () => stop(wanted())
  signal?.addEventListener('abort', cancel, { once: true })
  const leave = memory?.follow(() => stop(new QueryError('query-memory', { message: '' })))
  return {
    stopped: () => reason,
    throwIfStopped() {
      if (reason) throw reason
    },
    /** Called regularly in a long loop: yields, and throws if the statement was cancelled. */
    async turn() {
      await everybodyElse()
      if (reason) throw reason
    },
    end() {
      leave?.()
      clearInterval(again)
      signal?.removeEventListener('abort', cancel)
    },
  }
}
