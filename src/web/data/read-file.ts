import {
  choosesColumns,
  columnsOfLines,
  guessFormat,
  ImportFileError,
  type ImportFormat,
  isExportTable,
  lineConverter,
  rowsLookedAt,
  rowsOfSample,
  tableConverter,
} from '../../events/imports/format.ts'
import type { Mapping } from '../../events/imports/formats/mapped.ts'
import { type Converted, problem } from '../../events/imports/record.ts'
import { csvRecords } from './csv-records.ts'

// Reads a file in the browser, as `waymark import` does: the same formats, and the same numbers of rows.

const isGzip = (head: Uint8Array) => head[0] === 0x1f && head[1] === 0x8b
const isZstd = (head: Uint8Array) => head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd
const useCommand = (what: string) => new ImportFileError(`${what} cannot be read in a browser. Use the command below.`)

/** Lines of a file, a read at a time; `onBytes` receives the number of bytes read. */
async function* linesOf(file: File, onBytes: (count: number) => void = () => {}): AsyncGenerator<string[], void, void> {
  let count = 0
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      count += chunk.length
      controller.enqueue(chunk)
    },
  })
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer())
  const bytes = file.stream().pipeThrough(counting)
  const plain = isGzip(head) ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes
  const reader = plain.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      onBytes(count)
      // What came before is not searched again: a file may be one long line.
      const lines = value.split('\n')
      lines[0] = rest + lines[0]
      rest = lines.pop()!
      if (lines.length > 0) yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
  if (rest !== '') yield [rest]
}

async function sampleOf(file: File): Promise<string[]> {
  const lines: string[] = []
  for await (const some of linesOf(file)) {
    lines.push(...some.filter((line) => line.trim() !== '').slice(0, rowsLookedAt - lines.length))
    if (lines.length === rowsLookedAt) break
  }
  return lines
}

/** A row of the file, and about how many characters it has. */
export interface Read {
  readonly row: number
  readonly converted: Converted
  readonly characters: number
}
type OnBytes = (count: number) => void

async function* rowsOfLines({ file, format, sample }: OpenedFile, mapping: Mapping, onBytes: OnBytes): AsyncGenerator<Read, void, void> {
  const { ofLine } = lineConverter(file.name, format, mapping, sample)
  let row = 0
  for await (const lines of linesOf(file, onBytes))
    for (const line of lines) {
      row++
      if (line.trim() !== '') yield { row, converted: ofLine(line), characters: line.length }
    }
}

/** Rows are numbered as the command numbers them: without the first line, and without those that have too few or too many cells. */
async function* rowsOfCsv({ file }: OpenedFile, mapping: Mapping, onBytes: OnBytes): AsyncGenerator<Read, void, void> {
  let convert: ((cells: readonly string[]) => Converted) | null = null
  let columns = 0
  let row = 0
  for await (const records of csvRecords(file, onBytes))
    for (const cells of records) {
      if (convert === null) {
        const names = [...cells]
        const { convert: ofRow } = tableConverter('csv', mapping, names)
        columns = names.length
        convert = (values) => ofRow(Object.fromEntries(names.map((name, i) => [name, values[i] === '' ? null : values[i]])))
        continue
      }
      const characters = cells.reduce((sum, cell) => sum + cell.length, 0)
      if (cells.length === columns) yield { row: ++row, converted: convert(cells), characters }
      else yield { row: row + 1, converted: problem(`it has ${cells.length} cells instead of ${columns}`), characters: 0 }
    }
}

export interface OpenedFile {
  readonly file: File
  readonly format: ImportFormat
  /** Its first lines. */
  readonly sample: readonly string[]
  /** Of a file whose columns can be chosen; null: its format says what they are. */
  readonly columns: readonly string[] | null
  /** The first different values of each column that are not empty. */
  readonly samples: Readonly<Record<string, readonly unknown[]>>
}

const rowsSampled = 200
const valuesKept = 50

/** Whole columns of the first rows. */
class Samples {
  private readonly values = new Map<string, Set<unknown>>()

  add(row: Readonly<Record<string, unknown>>): void {
    for (const [column, value] of Object.entries(row)) {
      if (value === null || value === undefined || value === '') continue
      const known = this.values.get(column) ?? new Set()
      this.values.set(column, known)
      if (known.size < valuesKept) known.add(typeof value === 'object' ? JSON.stringify(value) : value)
    }
  }

  get all(): OpenedFile['samples'] {
    return Object.fromEntries([...this.values].map(([column, values]) => [column, [...values]]))
  }
}

/** The names in the first line, and values below them. */
async function readCsv(file: File): Promise<Pick<OpenedFile, 'samples'> & { readonly columns: readonly string[] }> {
  const samples = new Samples()
  let columns: readonly string[] | null = null
  let rows = 0
  for await (const records of csvRecords(file, () => {})) {
    for (const cells of records) {
      if (columns === null) columns = cells
      else if (rows++ < rowsSampled) samples.add(Object.fromEntries(columns.map((name, i) => [name, cells[i]])))
    }
    if (rows >= rowsSampled) break
  }
  return { columns: columns ?? [], samples: samples.all }
}

function readJson(sample: readonly string[]): Awaited<ReturnType<typeof readCsv>> {
  const samples = new Samples()
  for (const row of rowsOfSample(sample)) samples.add(row)
  return { columns: columnsOfLines(sample), samples: samples.all }
}

/** Tells the format of a file. */
export async function openFile(file: File): Promise<OpenedFile> {
  if (!crypto.subtle) throw new ImportFileError('Browsers read files for an import on pages with https only. Use the command below.')
  if (file.size === 0) throw new ImportFileError(`${file.name} is empty.`)
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer())
  if (isZstd(head)) throw useCommand('zstd')
  if (String.fromCharCode(...head) === 'PAR1') throw useCommand('Parquet')
  const sample = await sampleOf(file)
  const format = guessFormat(file.name, false, sample, 'choose another file, or set the format with --from in the command below')
  if (format === 'csv' && isGzip(head)) throw useCommand('Compressed CSV')
  if (!choosesColumns(format)) return { file, format, sample, columns: null, samples: {} }
  const { columns, samples } = format === 'csv' ? await readCsv(file) : readJson(sample)
  return { file, format, sample, samples, columns: format === 'csv' && isExportTable(columns) ? null : columns }
}

export const rowsOf = (opened: OpenedFile, mapping: Mapping, onBytes: OnBytes = () => {}): AsyncGenerator<Read, void, void> =>
  opened.format === 'csv' ? rowsOfCsv(opened, mapping, onBytes) : rowsOfLines(opened, mapping, onBytes)
