import { nameUuid } from '../../lib/ids/name-uuid.ts'
import type { ChosenColumns } from './formats/mapped.ts'
import { identified, idNamespace, type RowPlace } from './identity.ts'
import type { SourceFile } from './open.ts'
import type { Converted, ImportedEvent } from './record.ts'

// Carries the rows of files into ingestion: in batches, a few at a time, so that memory stays bounded however long the file is.

export interface BatchResult {
  readonly accepted: number
  readonly duplicates: number
  readonly dropped: number
  readonly warnings: readonly { readonly kind: string; readonly count: number }[]
}

export interface Checkpoints {
  /** The number of rows of this file that are certainly stored. */
  read(fingerprint: string): Promise<number>
  write(fingerprint: string, rows: number): Promise<void>
}

export interface ImportProgress {
  readonly file: string
  readonly rows: number
  readonly bytesRead: number
  readonly bytes: number
  /** The end of this file. */
  readonly isDone: boolean
}

export interface ImportRun {
  readonly files: readonly SourceFile[]
  /** Stores a batch (or only checks it, in a dry run). */
  readonly send: (batch: readonly ImportedEvent[]) => Promise<BatchResult>
  readonly checkpoints?: Checkpoints
  readonly onProgress?: (progress: ImportProgress) => void
  readonly signal?: AbortSignal
  readonly batchSize?: number
  readonly batchBytes?: number
  readonly inFlight?: number
}

export interface ImportSummary {
  /** Rows read, including earlier runs. */
  rows: number
  /** Rows that an earlier run had certainly stored. */
  skipped: number
  stored: number
  duplicates: number
  dropped: number
  unreadable: number
  /** The first of them. */
  readonly problems: { readonly file: string; readonly row: number; readonly problem: string }[]
  readonly warnings: Map<string, number>
  readonly events: Map<string, number>
  earliest: string | null
  latest: string | null
  isAborted: boolean
  /** How each file was read. */
  readonly files: { readonly file: string; readonly format: string; columns: ChosenColumns | null }[]
}

const problemsKept = 20

export async function runImport(run: ImportRun): Promise<ImportSummary> {
  const summary: ImportSummary = {
    rows: 0,
    skipped: 0,
    stored: 0,
    duplicates: 0,
    dropped: 0,
    unreadable: 0,
    problems: [],
    warnings: new Map(),
    events: new Map(),
    earliest: null,
    latest: null,
    isAborted: false,
    files: [],
  }
  const span: Span = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY }
  for (const file of run.files) {
    if (run.signal?.aborted) break
    await importFile(file, run, summary, span)
  }
  if (span.from <= span.to) [summary.earliest, summary.latest] = [new Date(span.from).toISOString(), new Date(span.to).toISOString()]
  summary.isAborted = run.signal?.aborted ?? false
  return summary
}

async function importFile(file: SourceFile, run: ImportRun, summary: ImportSummary, span: Span): Promise<void> {
  const { batchSize = 2000, batchBytes = 4 * 1024 * 1024, inFlight = 2 } = run
  const done = (await run.checkpoints?.read(file.fingerprint)) ?? 0
  let bytesRead = 0
  let row = 0
  let batch: ImportedEvent[] = []
  const flying: Promise<void>[] = []

  const send = async (events: readonly ImportedEvent[], upTo: number, before: Promise<void> | undefined) => {
    const result = await run.send(events)
    summary.stored += result.accepted
    summary.duplicates += result.duplicates
    summary.dropped += result.dropped
    for (const { kind, count } of result.warnings) summary.warnings.set(kind, (summary.warnings.get(kind) ?? 0) + count)
    await before // rows count as stored only when all rows before them are
    await run.checkpoints?.write(file.fingerprint, upTo)
  }
  const flush = async (upTo: number) => {
    if (batch.length === 0) return
    const sent = send(batch, upTo, flying.at(-1))
    sent.catch(() => {}) // awaited below, in order
    flying.push(sent)
    batch = []
    if (flying.length >= inFlight) await flying.shift()
  }

  const take = (converted: Converted, at: number) => {
    if ('problem' in converted) {
      summary.unreadable++
      const { problem, line = at } = converted
      if (summary.problems.length < problemsKept) summary.problems.push({ file: file.name, row: line, problem })
      return
    }
    for (let i = 0; i < converted.length; i++) {
      note(summary, span, converted[i]!)
      batch.push(withId(converted[i]!, { fingerprint: file.fingerprint, row: at, index: i }))
    }
  }
  const onBytes = (count: number) => {
    bytesRead = count
  }
  const about: ImportSummary['files'][number] = { file: file.name, format: file.format, columns: null }
  summary.files.push(about)
  const onColumns = (chosen: ChosenColumns) => {
    about.columns = chosen
  }

  try {
    let bytes = 0
    for await (const rows of file.rows({ onBytes, onColumns, skip: done })) {
      for (const [i, converted] of rows.items.entries()) {
        row = rows.first + i
        if (row <= done) summary.skipped++
        if (converted !== null || row <= done) summary.rows++
        if (converted !== null) take(converted, row)
        if (batch.length >= batchSize) await flush(row)
      }
      bytes = batch.length === 0 ? 0 : bytes + rows.bytes
      if (bytes >= batchBytes) {
        await flush(row)
        bytes = 0
      }
      run.onProgress?.({ file: file.name, rows: row, bytesRead, bytes: file.bytes, isDone: false })
      if (run.signal?.aborted) break
    }
    if (!run.signal?.aborted) await flush(row)
  } finally {
    const settled = await Promise.allSettled(flying)
    const failed = settled.find((s) => s.status === 'rejected')
    // biome-ignore lint/correctness/noUnsafeFinally: a failed batch is the reason to stop, whatever else ended the loop
    if (failed) throw failed.reason
  }
  const isCut = run.signal?.aborted === true
  run.onProgress?.({ file: file.name, rows: row, bytesRead: isCut ? bytesRead : file.bytes, bytes: file.bytes, isDone: true })
}

/** The range of all events read, in milliseconds. */
interface Span {
  from: number
  to: number
}

function note(summary: ImportSummary, span: Span, { event, timestamp }: ImportedEvent): void {
  summary.events.set(event, (summary.events.get(event) ?? 0) + 1)
  const time = Date.parse(timestamp)
  if (time < span.from) span.from = time
  if (time > span.to) span.to = time
}

function withId(event: ImportedEvent, place: RowPlace): ImportedEvent {
  const { event: plain, name } = identified(event, place)
  return name === null ? plain : ({ ...plain, uuid: nameUuid(idNamespace, name) } as ImportedEvent)
}
