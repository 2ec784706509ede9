import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { guessFormat, ImportFileError, type ImportFormat, lineConverter, rowsLookedAt, tableConverter } from './format.ts'
import type { ChosenColumns, Mapping } from './formats/mapped.ts'
import { firstBytes, readLines } from './lines.ts'
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

export interface SourceFile {
  readonly path: string
  readonly name: string
  readonly format: ImportFormat
  readonly bytes: number
  /** Equal for files with the same beginning, whatever their name and compression: rows keep their ids when a log has grown. */
  readonly fingerprint: string
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
  const isTable = isParquet || format === 'csv' || format === 'parquet'
  if (format === 'parquet' && !isParquet) throw new ImportFileError(`${path} is not a Parquet file`)
  const mapping = options.mapping ?? {}
  const base = {
    path,
    name: basename(path),
    format,
    bytes: size,
    fingerprint: fingerprint(isParquet ? await firstBytes(path, 1 << 16) : Buffer.from(sample.join('\n'))),
  }

  if (isTable) {
    const read = () => options.readTable(path, isParquet ? 'parquet' : 'csv')
    return { ...base, rows: (reading) => readable(path, tableRows(read(), format, mapping, reading)) }
  }
  const { ofLine, chosen } = lineConverter(path, format, mapping, sample)
  return {
    ...base,
    rows: (reading) => {
      if (chosen) reading?.onColumns?.(chosen)
      return readable(path, lineRows(path, ofLine, reading))
    },
  }
}

/** An error in the middle of a file is caused by its contents, and reported in one line. */
async function* readable(path: string, rows: AsyncGenerator<Rows, void, void>): AsyncGenerator<Rows, void, void> {
  try {
    yield* rows
  } catch (cause) {
    if (cause instanceof ImportFileError) throw cause
    const [reason] = (cause as Error).message.replace(/^[A-Z][\w ]*Error: (?=[A-Z])/, '').split('\n')
    throw new ImportFileError(`${path} cannot be read: ${reason}`, { cause })
  }
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

async function* lineRows(
  path: string,
  convert: (line: string) => Converted,
  { onBytes, skip = 0 }: Reading = {},
): AsyncGenerator<Rows, void, void> {
  let first = 1
  for await (const lines of readLines(path, onBytes)) {
    let bytes = 0
    const items = lines.map((line, i) => {
      bytes += line.length
      return first + i <= skip || line.trim() === '' ? null : convert(line)
    })
    yield { first, items, bytes }
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
