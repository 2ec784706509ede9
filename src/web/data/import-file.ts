import { guessFormat, ImportFileError, type ImportFormat, lineConverter, rowsLookedAt, tableConverter } from '../../imports/format.ts'
import { identified, idNamespace, type RowPlace } from '../../imports/identity.ts'
import { type Converted, type ImportedEvent, problem } from '../../imports/record.ts'
import { ApiError } from '../lib/api.ts'
import { csvRecords } from './csv-records.ts'

// Reads a file in the browser and sends its events, as `waymark import --url` does: the same formats, and the same ids of rows.

export interface Progress {
  readonly format: ImportFormat
  readonly bytesRead: number
  readonly rows: number
  readonly stored: number
  readonly duplicates: number
  readonly dropped: number
  readonly unreadable: number
  /** The first of them. */
  readonly problems: readonly { readonly row: number; readonly problem: string }[]
}

const batchSize = 2000
const batchCharacters = 4 * 1024 * 1024
const problemsKept = 10
const mostTries = 60
const retryAfterMs = 1000

const hex = (bytes: ArrayBuffer, count: number) =>
  [...new Uint8Array(bytes, 0, count)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const utf8 = new TextEncoder()
const namespaceBytes = Uint8Array.from(idNamespace.replaceAll('-', '').match(/../g)!, (pair) => Number.parseInt(pair, 16))

/** UUIDv5. */
async function nameUuid(name: string): Promise<string> {
  const text = utf8.encode(name)
  const all = new Uint8Array(namespaceBytes.length + text.length)
  all.set(namespaceBytes)
  all.set(text, namespaceBytes.length)
  const hash = await crypto.subtle.digest('SHA-1', all)
  const bytes = new Uint8Array(hash)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const digits = hex(hash, 16)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

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
      const lines = (rest + value).split('\n')
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

interface Target {
  readonly key: string
  readonly signal: AbortSignal
}
interface Summary {
  readonly accepted: number
  readonly duplicates: number
  readonly dropped: number
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

/** Until the server has taken it: one that is busy says when to come again. */
async function send(batch: readonly ImportedEvent[], { key, signal }: Target): Promise<Summary> {
  const body = JSON.stringify({ historical_migration: true, batch })
  for (let tries = 1; ; tries++) {
    const response = await fetch('i/v1/analytics/events?summary=1', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      signal,
    }).catch((error: unknown) => {
      if (signal.aborted) throw error
      return null
    })
    const answer = (await response?.json().catch(() => ({}))) as
      | { summary?: Summary; results?: Record<string, { result: string; details?: string }>; detail?: string }
      | undefined
    if (response?.status === 413 && batch.length > 1) {
      const half = batch.length >> 1
      const [a, b] = [await send(batch.slice(0, half), { key, signal }), await send(batch.slice(half), { key, signal })]
      return { accepted: a.accepted + b.accepted, duplicates: a.duplicates + b.duplicates, dropped: a.dropped + b.dropped }
    }
    const waits = Object.values(answer?.results ?? {}).find(({ result }) => result === 'retry' || result === 'limited')
    if (response?.ok && answer?.summary && !waits) return answer.summary
    const isRefused = response !== null && !response.ok && response.status !== 429 && response.status !== 503
    if (isRefused || tries === mostTries)
      throw new ApiError(response?.status ?? 0, {
        detail: answer?.detail ?? waits?.details ?? 'The server cannot be reached. Is it running?',
      })
    await pause(Number(response?.headers.get('retry-after') ?? 0) * 1000 || retryAfterMs, signal)
  }
}

/** A row of the file, and about how many characters it has. */
interface Read {
  readonly row: number
  readonly converted: Converted
  readonly characters: number
}
interface Reading {
  readonly format: ImportFormat
  readonly sample: readonly string[]
  readonly onBytes: (count: number) => void
}

async function* rowsOfLines(file: File, { format, sample, onBytes }: Reading): AsyncGenerator<Read, void, void> {
  const { ofLine } = lineConverter(file.name, format, {}, sample)
  let row = 0
  for await (const lines of linesOf(file, onBytes))
    for (const line of lines) {
      row++
      if (line.trim() !== '') yield { row, converted: ofLine(line), characters: line.length }
    }
}

/** Rows are numbered as the command numbers them: without the first line, and without those that have too few or too many cells. */
async function* rowsOfCsv(file: File, onBytes: (count: number) => void): AsyncGenerator<Read, void, void> {
  let convert: ((cells: readonly string[]) => Converted) | null = null
  let columns = 0
  let row = 0
  for await (const records of csvRecords(file, onBytes))
    for (const cells of records) {
      if (convert === null) {
        const names = [...cells]
        const { convert: ofRow } = tableConverter('csv', {}, names)
        columns = names.length
        convert = (values) => ofRow(Object.fromEntries(names.map((name, i) => [name, values[i] === '' ? null : values[i]])))
        continue
      }
      const characters = cells.reduce((sum, cell) => sum + cell.length, 0)
      if (cells.length === columns) yield { row: ++row, converted: convert(cells), characters }
      else yield { row: row + 1, converted: problem(`it has ${cells.length} cells instead of ${columns}`), characters: 0 }
    }
}

/** Stops where `signal` is aborted; what was sent until then stays, and the same file can be sent again. */
export async function importFile(file: File, target: Target, onProgress: (progress: Progress) => void): Promise<Progress> {
  if (!crypto.subtle) throw new ImportFileError('Browsers read files for an import on pages with https only. Use the command below.')
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer())
  if (isZstd(head)) throw useCommand('zstd')
  if (String.fromCharCode(...head) === 'PAR1') throw useCommand('Parquet')
  const sample = await sampleOf(file)
  const format = guessFormat(file.name, false, sample)
  if (format === 'csv' && isGzip(head)) throw useCommand('Compressed CSV')
  const fingerprint = hex(await crypto.subtle.digest('SHA-256', utf8.encode(sample.join('\n'))), 16)

  const problems: { row: number; problem: string }[] = []
  const counts = { rows: 0, stored: 0, duplicates: 0, dropped: 0, unreadable: 0 }
  let bytesRead = 0
  let batch: Promise<ImportedEvent>[] = []
  let characters = 0
  const report = () => ({ format, bytesRead, problems, ...counts })
  const withId = async (event: ImportedEvent, place: RowPlace): Promise<ImportedEvent> => {
    const { event: plain, name } = identified(event, place)
    return name === null ? plain : { ...plain, uuid: await nameUuid(name) }
  }
  const flush = async () => {
    if (batch.length === 0) return
    const { accepted, duplicates, dropped } = await send(await Promise.all(batch), target)
    counts.stored += accepted
    counts.duplicates += duplicates
    counts.dropped += dropped
    batch = []
    characters = 0
    onProgress(report())
  }
  const onBytes = (count: number) => {
    bytesRead = count
  }
  const rows = format === 'csv' ? rowsOfCsv(file, onBytes) : rowsOfLines(file, { format, sample, onBytes })
  for await (const read of rows) {
    target.signal.throwIfAborted()
    counts.rows++
    if ('problem' in read.converted) {
      counts.unreadable++
      if (problems.length < problemsKept) problems.push({ row: read.row, problem: read.converted.problem })
      continue
    }
    batch.push(...read.converted.map((event, index) => withId(event, { fingerprint, row: read.row, index })))
    characters += read.characters
    if (batch.length >= batchSize || characters >= batchCharacters) await flush()
  }
  await flush()
  return { ...report(), bytesRead: file.size }
}
