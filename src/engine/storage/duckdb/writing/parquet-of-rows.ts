import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { DataType } from 'apache-arrow'
import { WaymarkError } from '../../../../errors/errors.ts'
import { bytesOfRemoved } from '../../../../lib/bytes/file-bytes.ts'
import type { JsonRows, ParquetOfRows } from '../../../execution/ports.ts'
import { withinReserve } from '../../files/disk-reserve.ts'
import { downloadsFolder } from '../../files/downloads-folder.ts'
import { identifier, isDiskFull, text } from '../instance.ts'

/** For rows that are not those of one statement on files of this engine. A second instance converts them, which has access to nothing else. */
export const parquetOfRows = (dataDir: string): ParquetOfRows =>
  async function* ({ columns, lines }, signal) {
    const folder = await mkdtemp(join(await downloadsFolder(dataDir), 'waymark-rows-'))
    const [rows, file] = [join(folder, 'rows.jsonl'), join(folder, 'rows.parquet')]
    try {
      await withinReserve(folder, signal, async (within) => {
        await pipeline(lines, createWriteStream(rows, { mode: 0o600 }), { signal: within })
        await inOwnInstance({ folder, memory: '256MB', signal: within }, (connection) =>
          connection.run(`COPY (SELECT * FROM ${readOf(rows, typed(columns))}) TO ${text(file)} (FORMAT parquet, COMPRESSION zstd)`),
        )
      })
      await rm(rows)
      yield* bytesOfRemoved(file)
    } catch (error) {
      throw saidOf(error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

/** A full disk is said as such, by whichever of the two met it. */
export const saidOf = (error: unknown): unknown =>
  isDiskFull(error) || (error as NodeJS.ErrnoException).code === 'ENOSPC' ? new WaymarkError('no-space', {}, { cause: error }) : error

interface OwnInstance {
  /** The only one that it reads and writes. */
  readonly folder: string
  readonly memory: string
  /** What does not fit into memory is not written anywhere. */
  readonly isReadOnly?: true
  readonly signal: AbortSignal | undefined
}

export async function inOwnInstance(
  { folder, memory, isReadOnly, signal }: OwnInstance,
  work: (connection: DuckDBConnection) => Promise<unknown>,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const stop = () => connection.interrupt()
  try {
    const settings = [
      `memory_limit = ${text(memory)}`,
      'threads = 1', // which keeps the order of the rows
      'preserve_insertion_order = false', // else batches of rows are collected in memory, however wide they are
      "TimeZone = 'UTC'",
      `temp_directory = ${text(isReadOnly ? '' : folder)}`,
      `allowed_directories = [${text(folder)}]`,
      'enable_external_access = false',
      'lock_configuration = true',
    ]
    for (const setting of settings) await connection.run(`SET GLOBAL ${setting}`)
    signal?.throwIfAborted()
    signal?.addEventListener('abort', stop, { once: true })
    await work(connection)
  } finally {
    signal?.removeEventListener('abort', stop)
    connection.closeSync()
    instance.closeSync()
  }
}

/** Bytes. A row with a large event may have its properties several times. */
const longestRow = 32 * 1024 ** 2

const typed = (columns: JsonRows['columns']) => columns.map(({ name, type }) => ({ name, type: typeOf(type) }))

/** `longest`: bytes of a line. The reader takes memory for several of them. */
export const readOf = (
  file: string,
  columns: readonly { readonly name: string; readonly type: string }[],
  longest = longestRow,
): string => {
  const types = columns.map(({ name, type }) => `${identifier(name)}: ${text(type)}`)
  return `read_json(${text(file)}, format = 'newline_delimited', maximum_object_size = ${longest}, columns = {${types.join(', ')}})`
}

/** The type for the JSON form of such a value. */
export function typeOf(type: DataType): string {
  if (DataType.isUtf8(type) || DataType.isDictionary(type)) return 'VARCHAR'
  if (DataType.isBool(type)) return 'BOOLEAN'
  if (DataType.isInt(type)) return type.bitWidth === 64 ? 'BIGINT' : 'INTEGER'
  if (DataType.isFloat(type)) return 'DOUBLE'
  if (DataType.isDate(type)) return 'DATE'
  if (DataType.isTimestamp(type)) return 'TIMESTAMP'
  if (DataType.isDecimal(type)) return type.bitWidth === 128 ? `DECIMAL(${type.precision}, ${type.scale})` : 'VARCHAR'
  if (DataType.isList(type)) return `${typeOf(type.children[0]!.type)}[]`
  return 'JSON'
}
