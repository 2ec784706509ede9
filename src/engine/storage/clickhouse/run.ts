import { type RecordBatch, RecordBatchReader, Table } from 'apache-arrow'
import { QueryError, WaymarkError } from '../../../errors/errors.ts'
import { isFault } from '../../../errors/faults.ts'
import type { ScheduledStatement, StatementScheduler } from '../../../lib/flow/statement-scheduler.ts'
import type { RunOptions, Statement, Statements, StreamOptions } from '../../execution/ports.ts'
import { batchShaper } from './arrow.ts'
import type { Settings } from './client.ts'
import { type Connection, longStatements } from './connection.ts'
import { unreachable } from './connection-errors.ts'
import { engineError } from './engine-errors.ts'
import { clickHouseSettings } from './schema.ts'
import { wholeBatch } from './whole-batch.ts'

interface EngineRunOptions extends StreamOptions {
  readonly isStream: boolean
  readonly settings: Settings
}

const arrowSettings = {
  output_format_arrow_compression_method: 'none',
  output_format_arrow_string_as_string: 1,
  output_format_arrow_low_cardinality_as_dictionary: 0,
} as const

/** Runs statements when they are scheduled. `settings`: the operator's, for all statements. */
export function statementRunner(connection: Connection, turns: StatementScheduler, settings: Settings): Statements {
  /** In a single execution slot: the server produces all rows at once. */
  const whole = (statement: Statement, options: RunOptions, take: (batches: AsyncIterable<RecordBatch>) => Promise<void>): Promise<void> =>
    turns.schedule((turn) =>
      take(
        batchesOf(connection, statement, { ...during(turn, options), settings: { ...settings, wait_end_of_query: 1 }, isStream: false }),
      ),
    )
  const all = async (statement: Statement, options: RunOptions = {}): Promise<RecordBatch[]> => {
    let found: RecordBatch[] = []
    await whole(statement, options, async (batches) => {
      found = []
      for await (const batch of batches) found.push(batch)
    })
    return found
  }
  return {
    run: async (statement, options) => {
      const batch = wholeBatch(await all(statement, options))
      return new Table(batch.schema, [batch])
    },
    runInParts: (statement, take, options = {}) =>
      whole(statement, options, async (batches) => {
        for await (const batch of batches) await take(new Table(batch.schema, [batch]))
      }),
    async gather(statement, options) {
      const batches = await all(statement, options)
      return new Table(batches[0]!.schema, batches)
    },
    stream: (statement, options = {}) => streamed(connection, turns, statement, { ...options, settings, isStream: true }),
  }
}

const during = (turn: ScheduledStatement, options: RunOptions): RunOptions => ({
  ...options,
  signal: options.signal ? AbortSignal.any([options.signal, turn.signal]) : turn.signal,
})

/** Only the first batch is scheduled: the server itself waits for a slow reader. */
async function* streamed(
  connection: Connection,
  turns: StatementScheduler,
  statement: Statement,
  options: EngineRunOptions,
): AsyncGenerator<RecordBatch, void, undefined> {
  const batches = batchesOf(connection, statement, options)
  try {
    for (;;) {
      const { done, value } = await turns.schedule(
        (turn) => {
          turn.hasRows()
          return batches.next()
        },
        { canRestart: false },
      )
      if (done) return
      yield value
    }
  } finally {
    await batches.return()
  }
}

/** Batches of a statement as the server sends them; at least one, which defines the columns. */
async function* batchesOf(
  connection: Connection,
  statement: Statement,
  { signal, mostBytes = Number.POSITIVE_INFINITY, batchRows, isStream, settings }: EngineRunOptions,
): AsyncGenerator<RecordBatch, void, undefined> {
  const params = Object.fromEntries(statement.params.map((value, i) => [`p${i + 1}`, value]))
  const tail = new Tail()
  const left = new AbortController()
  try {
    signal?.throwIfAborted()
    const bytes = await connection.stream(`${statement.sql}\nFORMAT ArrowStream`, {
      params,
      signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
      settings: {
        ...longStatements,
        ...settings,
        ...clickHouseSettings,
        ...arrowSettings,
        ...(batchRows && { max_block_size: batchRows }),
      },
    })
    const reader = await RecordBatchReader.from(counted(bytes, mostBytes, tail))
    const shape = batchShaper(statement.columns, isStream)
    for await (const batch of reader) {
      signal?.throwIfAborted()
      yield shape(batch)
    }
    signal?.throwIfAborted()
    if (!tail.isWhole) throw new Error('The answer is truncated')
  } catch (error) {
    if (signal?.aborted) throw signal.reason instanceof WaymarkError ? signal.reason : new QueryError('query-cancelled', {})
    if (tail.exception) throw engineError(tail.exception, statement.sql)
    if (!(error instanceof WaymarkError) && !isFault(error) && tail.hasEnded && !tail.isWhole)
      throw unreachable('the connection was lost', error)
    throw engineError(error, statement.sql)
  } finally {
    if (!tail.hasEnded) left.abort() // its reader needs no more rows
  }
}

async function* counted(bytes: AsyncIterable<Uint8Array>, most: number, tail: Tail): AsyncGenerator<Uint8Array> {
  let taken = 0
  for await (const chunk of bytes) {
    taken += chunk.byteLength
    if (taken > most) throw new QueryError('answer-too-large', { bytes: most })
    tail.push(chunk)
    yield chunk
  }
  tail.hasEnded = true
}

const longestException = 16_384
/** The end marker of an Arrow stream. */
const endOfStream = Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])

/** The end of an answer: if a statement fails after its first rows, the server writes the error there. */
class Tail {
  private bytes: Buffer = Buffer.alloc(0)
  /** The stream has ended. */
  hasEnded = false

  get isWhole(): boolean {
    return this.bytes.subarray(-endOfStream.length).equals(endOfStream)
  }

  push(chunk: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, chunk.subarray(-longestException)]).subarray(-longestException)
  }

  get exception(): Error | null {
    const found = /Code: \d+\. DB::Exception: .*/s.exec(this.bytes.toString('latin1'))
    return found && new Error(found[0])
  }
}
