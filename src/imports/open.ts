import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { accessLogEvent, isAccessLogLine } from './formats/access-log.ts'
import { amplitude } from './formats/amplitude.ts'
import { type Mapping, mapped } from './formats/mapped.ts'
import { mixpanel } from './formats/mixpanel.ts'
import { posthog } from './formats/posthog.ts'
import { firstBytes, readLines } from './lines.ts'
import { type Converted, type Converter, isRow, problem, type Row } from './record.ts'

export const importFormats = ['posthog', 'mixpanel', 'amplitude', 'csv', 'jsonl', 'parquet', 'access-log'] as const
export type ImportFormat = (typeof importFormats)[number]

/** Reads rows of a CSV or Parquet file in order. Comes from the outside: an engine does it. */
export type TableReader = (path: string, format: 'csv' | 'parquet') => AsyncIterable<Row>

export interface SourceFile {
  readonly path: string
  readonly name: string
  readonly format: ImportFormat
  readonly bytes: number
  /** The same for the same beginning of a file, under whatever name and wrapping: rows keep their ids when a log has grown. */
  readonly fingerprint: string
  /** One item per row of the file. `onBytes` hears how far the file has been read, where that is known. */
  rows(onBytes: (count: number) => void): AsyncGenerator<Converted, void, void>
}

export class ImportFileError extends Error {
  override readonly name = 'ImportFileError'
}

const rowsLookedAt = 20

/** Finds out what a file is and how to read it. `format` says it instead of looking; `mapping` names the columns of a plain file. */
export async function openSource(
  path: string,
  options: { format?: ImportFormat; mapping?: Mapping; readTable: TableReader },
): Promise<SourceFile> {
  const head = await firstBytes(path, 8).catch((cause: NodeJS.ErrnoException) => {
    throw new ImportFileError(`${path} cannot be read: ${cause.code === 'ENOENT' ? 'there is no such file' : cause.message}`, { cause })
  })
  const { size } = await stat(path)
  if (size === 0) throw new ImportFileError(`${path} is empty`)
  const isParquet = head.subarray(0, 4).toString('latin1') === 'PAR1'
  const sample = isParquet ? [] : await sampleLines(path)
  const format = options.format ?? guess(path, isParquet, sample)
  const isTable = isParquet || format === 'csv' || format === 'parquet'
  if (format === 'parquet' && !isParquet) throw new ImportFileError(`${path} is no Parquet file`)
  const mapping = options.mapping ?? {}
  const base = {
    path,
    name: basename(path),
    format,
    bytes: size,
    fingerprint: fingerprint(isParquet ? await firstBytes(path, 1 << 16) : Buffer.from(sample.join('\n'))),
  }

  if (isTable)
    return { ...base, rows: () => readable(path, tableRows(options.readTable(path, isParquet ? 'parquet' : 'csv'), format, mapping)) }
  if (format === 'access-log') return { ...base, rows: (onBytes) => readable(path, logRows(path, onBytes)) }
  const first = sample.map(parseRow).find(isRow)
  if (!first) throw new ImportFileError(`${path} holds no lines of JSON objects`)
  const convert = converterOf(format, mapping, Object.keys(first))
  return { ...base, rows: (onBytes) => readable(path, jsonRows(path, convert, onBytes)) }
}

/** What stops the reading in the middle is the file's fault, and said in one line. */
async function* readable(path: string, rows: AsyncGenerator<Converted, void, void>): AsyncGenerator<Converted, void, void> {
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
    for await (const line of readLines(path)) {
      if (line.trim() !== '') lines.push(line)
      if (lines.length === rowsLookedAt) break
    }
  } catch (cause) {
    throw new ImportFileError(`${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
  return lines
}

function parseRow(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function guess(path: string, isParquet: boolean, sample: readonly string[]): ImportFormat {
  const row = sample.map(parseRow).find(isRow)
  if (isParquet) return 'parquet'
  if (row) {
    if ('event_type' in row && ('user_id' in row || 'device_id' in row || 'amplitude_id' in row)) return 'amplitude'
    if ('event' in row && isRow(row.properties) && 'time' in row.properties) return 'mixpanel'
    if ('event' in row && 'distinct_id' in row && 'timestamp' in row) return 'posthog'
    return 'jsonl'
  }
  if (sample[0] !== undefined && isAccessLogLine(sample[0])) return 'access-log'
  const isBinary = sample.some((line) => /[\x00-\x08\x0e-\x1a]|\ufffd/.test(line))
  if (!isBinary && (/\.csv(\.(gz|zst))?$/i.test(path) || sample[0]?.includes(','))) return 'csv'
  throw new ImportFileError(
    `${path} is neither JSON lines, CSV, Parquet nor an access log${isBinary ? ' (it is a binary file)' : ''}; --from says what it is: ${importFormats.join(', ')}`,
  )
}

const converters: Partial<Record<ImportFormat, Converter>> = { posthog, mixpanel, amplitude }

function converterOf(format: ImportFormat, mapping: Mapping, columns: readonly string[]): Converter {
  try {
    return converters[format] ?? mapped(mapping, columns)
  } catch (cause) {
    throw new ImportFileError((cause as Error).message, { cause })
  }
}

async function* jsonRows(path: string, convert: Converter, onBytes: (count: number) => void): AsyncGenerator<Converted, void, void> {
  for await (const line of readLines(path, onBytes)) {
    if (line.trim() === '') continue
    const row = parseRow(line)
    yield isRow(row) ? convert(row) : problem(`not a JSON object: ${line.slice(0, 80)}`)
  }
}

async function* logRows(path: string, onBytes: (count: number) => void): AsyncGenerator<Converted, void, void> {
  for await (const line of readLines(path, onBytes)) if (line.trim() !== '') yield accessLogEvent(line)
}

async function* tableRows(rows: AsyncIterable<Row>, format: ImportFormat, mapping: Mapping): AsyncGenerator<Converted, void, void> {
  let convert: Converter | null = null
  for await (const row of rows) {
    convert ??= tableConverter(format, mapping, Object.keys(row))
    yield convert(row)
  }
}

/** A Parquet file with the columns of an export is read as one, unless a mapping says otherwise. */
function tableConverter(format: ImportFormat, mapping: Mapping, columns: readonly string[]): Converter {
  const isExport = ['event', 'distinct_id', 'timestamp', 'properties'].every((column) => columns.includes(column))
  return isExport && Object.keys(mapping).length === 0 ? posthog : converterOf(format, mapping, columns)
}
