import type { ChosenColumns } from './formats/mapped.ts'
import type { Reading, SourceFile } from './open.ts'
import type { ImportedEvent } from './record.ts'
import { type Counts, problemsKept, RowTaker } from './row-taker.ts'

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
  /** Reads a file in another way, such as in other threads. Absent: here, in batches for `send`. */
  readonly parts?: (file: SourceFile, reading: Required<Reading>) => AsyncIterable<Part>
  readonly checkpoints?: Checkpoints
  readonly onProgress?: (progress: ImportProgress) => void
  readonly signal?: AbortSignal
  readonly batchSize?: number
  readonly batchBytes?: number
  readonly inFlight?: number
}

/** Consecutive rows of a file, in its order. */
export interface Part {
  readonly counts: Counts
  /** Stores all events since the part before that could be stored; null: later. */
  readonly store: (() => Promise<BatchResult>) | null
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
  const { inFlight = 2 } = run
  const done = (await run.checkpoints?.read(file.fingerprint)) ?? 0
  let bytesRead = 0
  let row = 0
  const flying: Promise<void>[] = []

  const send = async (store: NonNullable<Part['store']>, upTo: number, before: Promise<void> | undefined) => {
    const result = await store()
    summary.stored += result.accepted
    summary.duplicates += result.duplicates
    summary.dropped += result.dropped
    for (const { kind, count } of result.warnings) summary.warnings.set(kind, (summary.warnings.get(kind) ?? 0) + count)
    await before // rows count as stored only when all rows before them are
    await run.checkpoints?.write(file.fingerprint, upTo)
  }
  const onBytes = (count: number) => {
    bytesRead = count
  }
  const about: ImportSummary['files'][number] = { file: file.name, format: file.format, columns: null }
  summary.files.push(about)
  const onColumns = (chosen: ChosenColumns) => {
    about.columns = chosen
  }
  const reading: Required<Reading> = { onBytes, onColumns, skip: done }

  try {
    for await (const { counts, store } of run.parts?.(file, reading) ?? batchesOf(file, run, reading)) {
      row = counts.lastRow
      addCounts(summary, span, counts, file.name)
      if (store) {
        const sent = send(store, row, flying.at(-1))
        sent.catch(() => {}) // awaited below, in order
        flying.push(sent)
        if (flying.length >= inFlight) await flying.shift()
      }
      run.onProgress?.({ file: file.name, rows: row, bytesRead, bytes: file.bytes, isDone: false })
      if (run.signal?.aborted) break
    }
  } finally {
    const settled = await Promise.allSettled(flying)
    const failed = settled.find((s) => s.status === 'rejected')
    // biome-ignore lint/correctness/noUnsafeFinally: a failed batch is the reason to stop, whatever else ended the loop
    if (failed) throw failed.reason
  }
  const isCut = run.signal?.aborted === true
  run.onProgress?.({ file: file.name, rows: row, bytesRead: isCut ? bytesRead : file.bytes, bytes: file.bytes, isDone: true })
}

/** Reads a file here. */
async function* batchesOf(
  file: SourceFile,
  { send, signal, batchSize = 2000, batchBytes = 4 * 1024 * 1024 }: ImportRun,
  reading: Required<Reading>,
): AsyncGenerator<Part, void, void> {
  const taker = new RowTaker(file, reading.skip)
  const batch = (): Part => {
    const events = taker.takeEvents()
    return { counts: taker.takeCounts(), store: events.length === 0 ? null : () => send(events) }
  }
  let bytes = 0
  for await (const rows of file.rows(reading)) {
    for (const [i, converted] of rows.items.entries()) {
      taker.take(converted, rows.first + i)
      if (taker.count < batchSize) continue
      yield batch()
      if (signal?.aborted) return
    }
    bytes = taker.count === 0 ? 0 : bytes + rows.bytes
    if (bytes >= batchBytes) {
      yield batch()
      bytes = 0
    } else yield { counts: taker.takeCounts(), store: null }
  }
  yield batch()
}

function addCounts(summary: ImportSummary, span: Span, counts: Counts, file: string): void {
  summary.rows += counts.rows
  summary.skipped += counts.skipped
  summary.unreadable += counts.unreadable
  for (const { row, problem } of counts.problems) if (summary.problems.length < problemsKept) summary.problems.push({ file, row, problem })
  for (const [event, count] of counts.events) summary.events.set(event, (summary.events.get(event) ?? 0) + count)
  span.from = Math.min(span.from, counts.from)
  span.to = Math.max(span.to, counts.to)
}

/** The range of all events read, in milliseconds. */
interface Span {
  from: number
  to: number
}
