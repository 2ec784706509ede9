import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import { distinctNames } from '../../../../language/types/tuple-elements.ts'
import { isNamed } from '../../../../language/types/types.ts'
import { csvMarks, type ResultColumn, type RowsFile, type Statement } from '../../../execution/ports.ts'
import { identifier, text } from '../instance.ts'

// Files that DuckDB's COPY writes: no row passes through JavaScript.

type Format = RowsFile['format']

/** JSON as part of the line, times as ISO 8601 with `Z`, and what a format has no type for as text. */
function written(column: string, { type }: ResultColumn, format: Format): string {
  if (!type) return column
  if (isNamed(type, 'JSON', 'Dynamic')) return format === 'JSONLines' ? `TRY_CAST(${column} AS JSON)` : column
  if (isNamed(type, 'DateTime', 'DateTime64')) return format === 'Parquet' ? column : `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%fZ')`
  if (isNamed(type, 'UInt64')) return `CAST(${column} AS UBIGINT)` // sums are HUGEINT, which Parquet would store as DOUBLE
  if (isNamed(type, 'Int128', 'Int256', 'UInt128', 'UInt256')) return `CAST(${column} AS VARCHAR)`
  const isNested = type.kind === 'array' || type.kind === 'tuple' || type.kind === 'map'
  if (format === 'CSV' && isNested) return `CAST(to_json(${column}) AS VARCHAR)`
  return column
}

/** Each thread holds one row group: at DuckDB's default, 122,880, wide rows took half a gigabyte. */
const rowGroupRows = 32_768

const options: Readonly<Record<Format, string>> = {
  JSONLines: 'FORMAT json, ARRAY false',
  Parquet: `FORMAT parquet, ROW_GROUP_SIZE ${rowGroupRows}`,
  CSV: `FORMAT csv, HEADER false, DELIMITER ${text(csvMarks.delimiter)}, QUOTE ${text(csvMarks.quote)}, ESCAPE ${text(csvMarks.quote)}`,
}

/** DuckDB has no brotli for text, and its gzip takes four times as long as that of Node. */
export const isCompressedAfterwards = ({ format, compression }: RowsFile): boolean =>
  format !== 'Parquet' && (compression === 'brotli' || compression === 'gzip')

const compression = ({ format, compression: wanted }: RowsFile): string => {
  if (format === 'Parquet') return wanted === null ? 'uncompressed' : wanted === 'lz4' ? 'lz4_raw' : wanted
  return wanted === null || wanted === 'brotli' || wanted === 'gzip' ? 'none' : wanted
}

/** The statement that writes the rows of another one into a file at `path`. `groupBytes`: of a row group in memory, where rows may be written in any order. */
export function copyStatement({ sql, params, columns }: Statement, file: RowsFile, path: string, groupBytes?: number): Statement {
  const names = columns.map((_, i) => `c${i}`)
  const shown = distinctNames(columns.map(({ name }) => name))
  const values = columns.map((column, i) => `${written(names[i]!, column, file.format)} AS ${identifier(shown[i]!)}`)
  const rows = `SELECT ${values.join(', ')} FROM (${sql}) AS rows(${names.join(', ')})`
  const groups = file.format === 'Parquet' && groupBytes !== undefined ? `, ROW_GROUP_SIZE_BYTES ${groupBytes}` : ''
  // PostgreSQL reads a line `\\.` as the end of the rows, unless it is quoted.
  const quoting = file.format === 'CSV' && columns.length === 1 ? ', FORCE_QUOTE *' : ''
  return {
    sql: `COPY (${rows}) TO ${text(path)} (${options[file.format]}${groups}${quoting}, COMPRESSION ${text(compression(file))})`,
    params,
    columns: [],
  }
}

const chunkBytes = 256 * 1024

/** Compresses a file that DuckDB wrote, and removes it. */
export async function compressFile(from: string, to: string, how: RowsFile['compression']): Promise<void> {
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 4 } // the default, 11, is a hundred times slower
  const compressor =
    how === 'brotli' ? createBrotliCompress({ params: quality, chunkSize: chunkBytes }) : createGzip({ chunkSize: chunkBytes })
  await pipeline(createReadStream(from, { highWaterMark: chunkBytes }), compressor, createWriteStream(to, { mode: 0o600 }))
  await rm(from)
}

export const bytesOf = async (path: string): Promise<number> => (await stat(path)).size
