import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  guessFormat,
  ImportFileError,
  type ImportFormat,
  isOfLinesOrTables,
  isTextOfTable,
  lineConverter,
  rowsLookedAt,
  tableConverter,
} from './format.ts'
import type { ChosenColumns, Mapping } from './formats/mapped.ts'
import { countLines, firstBytes, linesOf, readBlocks, readLines } from './lines.ts'
import type { Converted, Converter, FileRow, Problem } from './record.ts'

/** Reads rows of a CSV or Parquet file in order, in batches, then its invalid lines. An engine implements it. */
export type TableReader = (path: string, format: 'csv' | 'parquet') => AsyncIterable<TableChunk>
export type TableChunk = { readonly rows: readonly FileRow[] } | { readonly problems: readonly Problem[] }

/** Consecutive rows of a file. */
export interface Rows {
  /** The number of the first row, from 1; for a text file, of the line. */
  readonly first: number
  /** Null: an empty line, or a row that is skipped. */
  readonly items: readonly (Converted | null)[]
  /** Their approximate size as text. */
  readonly bytes: number
}

export interface Reading {
  /** Called with the bytes read so far, if known. */
  readonly onBytes?: (count: number) => void
  /** Called once with the columns chosen for a plain file. */
  readonly onColumns?: (chosen: ChosenColumns) => void
  /** The number of rows to skip. */
  readonly skip?: number
}

/** How a file is read: what another thread needs to read its rows in the same way. */
export interface Recipe {
  readonly path: string
  readonly name: string
  readonly format: ImportFormat
  readonly mapping: Mapping
  /** Equal for files with the same beginning, whatever their name and compression: rows keep their ids when a log has grown. */
  readonly fingerprint: string
  /** The first lines of a text file; null for a table. */
  readonly sample: readonly string[] | null
  readonly isParquet: boolean
}

export interface SourceFile extends Recipe {
  readonly bytes: number
  rows(reading?: Reading): AsyncGenerator<Rows, void, void>
}

/** Detects the format of a file and opens it. `format` overrides the detection; `mapping` names the columns of a plain file. */
export async function openSource(
  path: string,
  options: { format?: ImportFormat; mapping?: Mapping; readTable: TableReader },
): Promise<SourceFile> {
  const head = await firstBytes(path, 8).catch((cause: NodeJS.ErrnoException) => {
    throw new ImportFileError(`${path} cannot be read: ${cause.code === 'ENOENT' ? 'no such file' : cause.message}`, { cause })
  })
  const { size } = await stat(path)
  if (size === 0) throw new ImportFileError(`${path} is empty`)
  const isParquet = head.subarray(0, 4).toString('latin1') === 'PAR1'
  const sample = isParquet ? [] : await sampleLines(path)
  const format = options.format ?? guessFormat(path, isParquet, sample)
  const isTable = isParquet || format === 'csv' || format === 'parquet' || (isOfLinesOrTables(format) && isTextOfTable(sample))
  if (format === 'parquet' && !isParquet) throw new ImportFileError(`${path} is not a Parquet file`)
  const recipe: Recipe = {
    path,
    name: basename(path),
    format,
    mapping: options.mapping ?? {},
    fingerprint: fingerprint(isParquet ? await firstBytes(path, 1 << 16) : Buffer.from(sample.join('\n'))),
    sample: isTable ? null : sample,
    isParquet,
  }
  const ofLines = linesReader(recipe)
  return {
    ...recipe,
    bytes: size,
    rows: (reading) => {
      if (ofLines?.chosen) reading?.onColumns?.(ofLines.chosen)
      return ofLines ? readable(path, lineRows(path, ofLines, reading)) : rowsOfTable(recipe, options.readTable, reading)
    },
  }
}

/** Reads lines of a file. Calls in the order of the file: what a line becomes may depend on those before it. */
export interface LinesReader {
  /** The columns of a plain file. */
  readonly chosen: ChosenColumns | null
  /** `first`: the number of the first line. Lines up to `skip` are left out. */
  rows(lines: readonly string[], first: number, skip: number): Rows
}

/** Null: the file is a table. */
export function linesReader({ path, format, mapping, sample }: Recipe): LinesReader | null {
  if (!sample) return null
  const { ofLine, chosen } = lineConverter(path, format, mapping, sample)
  return {
    chosen,
    rows(lines, first, skip) {
      let bytes = 0
      const itemOf = (line: string, i: number) => {
        bytes += line.length
        return first + i <= skip || line.trim() === '' ? null : ofLine(line)
      }
      try {
        return { first, items: lines.map(itemOf), bytes }
      } catch (cause) {
        throw unreadable(path, cause)
      }
    },
  }
}

/** Formats whose rows do not depend on those before them: parts of a file can be read at once. */
export const isReadInAnyOrder = ({ format }: Recipe): boolean => format !== 'amplitude' && format !== 'google-analytics'

/** Lines of a file, as bytes. */
export interface Block {
  readonly bytes: Buffer
  /** The number of the first line. */
  readonly first: number
}

/** A text file in parts of at least `least` bytes. */
export async function* blocksOf({ path }: Recipe, least: number, onBytes?: (count: number) => void): AsyncGenerator<Block, void, void> {
  yield* readable(path, numbered(readBlocks(path, onBytes, least)))
}

async function* numbered(blocks: AsyncIterable<Buffer>): AsyncGenerator<Block, void, void> {
  let first = 1
  for await (const bytes of blocks) {
    const count = countLines(bytes) // the bytes may be handed over
    yield { bytes, first }
    first += count
  }
}

/** The lines of a block of `blocksOf`. */
export const linesOfBlock = (bytes: Uint8Array): readonly string[] => linesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))

/** The rows of a table. */
export function rowsOfTable(recipe: Recipe, readTable: TableReader, reading?: Reading): AsyncGenerator<Rows, void, void> {
  const { path, format, mapping, isParquet } = recipe
  return readable(path, tableRows(readTable(path, isParquet ? 'parquet' : 'csv'), format, mapping, reading))
}

/** An error in the middle of a file is caused by its contents, and reported in one line. */
async function* readable<T>(path: string, rows: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  try {
    yield* rows
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

function unreadable(path: string, cause: unknown): ImportFileError {
  if (cause instanceof ImportFileError) return cause
  const [reason] = (cause as Error).message.replace(/^[A-Z][\w ]*Error: (?=[A-Z])/, '').split('\n')
  return new ImportFileError(`${path} cannot be read: ${reason}`, { cause })
}

const fingerprint = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 32)

async function sampleLines(path: string): Promise<readonly string[]> {
  const lines: string[] = []
  try {
    for await (const some of readLines(path)) {
      lines.push(...some.filter((line) => line.trim() !== '').slice(0, rowsLookedAt - lines.length))
      if (lines.length === rowsLookedAt) break
    }
  } catch (cause) {
    throw new ImportFileError(`${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
  return lines
}

async function* lineRows(path: string, reader: LinesReader, { onBytes, skip = 0 }: Reading = {}): AsyncGenerator<Rows, void, void> {
  let first = 1
  for await (const lines of readLines(path, onBytes)) {
    yield reader.rows(lines, first, skip)
    first += lines.length
  }
}

async function* tableRows(
  table: AsyncIterable<TableChunk>,
  format: ImportFormat,
  mapping: Mapping,
  { skip = 0, onColumns }: Reading = {},
): AsyncGenerator<Rows, void, void> {
  let convert: Converter | null = null
  const begin = (row: FileRow): Converter => {
    const { convert, chosen } = tableConverter(format, mapping, Object.keys(row))
    if (chosen) onColumns?.(chosen)
    return convert
  }
  let first = 1
  for await (const chunk of table) {
    if ('problems' in chunk) {
      yield { first, items: chunk.problems, bytes: 0 }
      continue
    }
    const items = chunk.rows.map((row, i) => {
      convert ??= begin(row)
      return first + i <= skip ? null : convert(row)
    })
    yield { first, items, bytes: 0 }
    first += items.length
  }
}
