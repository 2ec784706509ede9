import { type RecordBatch, Table } from 'apache-arrow'
import { InternalError, WaymarkError } from '../../errors/errors.ts'
import { distinctNames } from '../../language/types/tuple-elements.ts'
import { arrowBytes } from '../../lib/bytes/arrow-bytes.ts'
import { csvLines, inPieces } from '../../lib/text/csv.ts'
import { tableRows } from '../../queries/answers/rows.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import { breakdownName, readableBreakdown } from '../../queries/series/breakdown-values.ts'
import { type ArrowWork, arrowOf, batchesOf } from './arrow.ts'
import type { AnswerOptions } from './checkpoint.ts'
import type { FileOfRows, ParquetOfRows, ResultColumn, RowsFile, WrittenRows } from './ports.ts'
import type { QueryProject } from './query-context.ts'

// All rows of a query as a file, without ever holding all of them. Values are those of a JSON answer, in Arrow and Parquet those of the engine.

/** `spreadsheet`: CSV in which no text is a formula. */
export const downloadFormats = ['csv', 'jsonl', 'parquet', 'arrow', 'spreadsheet'] as const
export type DownloadFormat = (typeof downloadFormats)[number]

type Bytes = AsyncGenerator<Uint8Array, void, undefined>
type Batches = AsyncGenerator<RecordBatch, void, undefined>

export interface Download {
  readonly warnings: readonly AnswerWarning[]
  readonly bytes: Bytes
}

export interface DownloadOptions extends AnswerOptions {
  readonly parquetOf: ParquetOfRows
}

/** Other work gets the thread between two batches. */
export const rowsOfBatch = 2048

export async function queryDownload(
  query: unknown,
  format: DownloadFormat,
  project: QueryProject,
  { parquetOf, ...options }: DownloadOptions,
): Promise<Download> {
  const work = await arrowOf(query, project, options)
  const { warnings, timezone } = work
  const batches = (batchRows?: number) => batchesOf(work, project, { ...options, ...(batchRows ? { batchRows } : {}) })
  const bytes = {
    arrow: () => arrowBytes(batches()),
    csv: () => csv(batches(rowsOfBatch), timezone, false),
    spreadsheet: () => csv(batches(rowsOfBatch), timezone, true, 'table' in work),
    jsonl: () => jsonLines(batches(rowsOfBatch), timezone),
    parquet: () => parquetOfStatement(work, project, options) ?? parquet(batches(rowsOfBatch), parquetOf, options.signal),
  }
  return { warnings, bytes: bytes[format]() }
}

/** The values of a breakdown as people read them. */
const readable = <V>(value: V, column: string): V | string => {
  if (column === 'breakdown_value' && (value === null || value === '')) return breakdownName([''])
  return typeof value === 'string' ? readableBreakdown(value) : value
}

const namesOf = ({ schema }: RecordBatch): readonly string[] => schema.fields.map(({ name }) => name)

async function* csv(batches: Batches, timezone: string, isForPeople: boolean, isChart = false): Bytes {
  let isFirst = true
  for await (const batch of batches) {
    const names = namesOf(batch)
    const all = tableRows(new Table([batch]), timezone)
    const rows = isChart ? all.map((row) => row.map((value, i) => readable(value, names[i]!))) : all
    yield* csvLines(isFirst ? [names, ...rows] : rows, isForPeople)
    isFirst = false
  }
}

/** `keys`: default: the names of the columns. */
async function* jsonLines(batches: Batches, timezone: string, keys?: readonly string[]): Bytes {
  for await (const batch of batches) {
    const names = (keys ?? distinctNames(namesOf(batch))).map((name) => JSON.stringify(name))
    const line = (row: readonly unknown[]) => `{${names.map((name, i) => `${name}:${JSON.stringify(row[i])}`).join(',')}}\n`
    yield* inPieces(tableRows(new Table([batch]), timezone).map(line))
  }
}

/** A name ends at NUL in Parquet files. */
const mustBeNames = (names: readonly string[]): void => {
  const wrong = names.find((name) => name.includes('\0'))
  if (wrong === undefined) return
  const message = `A column of a Parquet file cannot be named ${JSON.stringify(wrong)}: the name contains NUL. Give it another name with \`as\`.`
  throw new WaymarkError('invalid-value', { message, rule: 'invalid_input', attr: null })
}

/** Null: the engine does not write the file itself. */
function parquetOfStatement(work: ArrowWork, project: QueryProject, options: AnswerOptions): Bytes | null {
  const { parquet: write } = project
  if (!('statement' in work) || !write) return null
  mustBeNames(work.statement.columns.map(({ name }) => name))
  return (async function* () {
    try {
      yield* write(work.statement, options)
    } catch (error) {
      throw await work.explained(error)
    }
  })()
}

/** All rows of a statement as a file, for an engine that writes none. */
export async function writeRows(
  batches: Batches,
  { types, file, fileOf }: { readonly types: readonly ResultColumn[]; readonly file: RowsFile; readonly fileOf: FileOfRows },
  signal?: AbortSignal,
): Promise<WrittenRows> {
  const { done, value: first } = await batches.next()
  if (done) throw new InternalError('A statement without a batch')
  const keys = first.schema.fields.map((_, i) => `c${i}`)
  async function* all() {
    yield first!
    yield* batches
  }
  const columns = first.schema.fields.map(({ type }, i) => ({ name: keys[i]!, type }))
  try {
    return await fileOf({ columns, types, lines: jsonLines(all(), 'UTC', keys) }, file, signal)
  } finally {
    await batches.return()
  }
}

async function* parquet(batches: Batches, parquetOf: ParquetOfRows, signal?: AbortSignal): Bytes {
  const { done, value: first } = await batches.next()
  if (done) return
  const names = distinctNames(namesOf(first))
  mustBeNames(names)
  const columns = first.schema.fields.map(({ type }, i) => ({ name: names[i]!, type }))
  async function* all() {
    yield first!
    yield* batches
  }
  yield* parquetOf({ columns, lines: jsonLines(all(), 'UTC') }, signal)
}
