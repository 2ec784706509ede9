import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mustHold } from '../../../errors/invariants.ts'
import { type Destination, discardMs, type ExportRun, type Outside, type Sink } from '../destinations/destination.ts'
import type { ExportRows, RowMeasure, RowPart, RowSelection, WrittenRows } from '../ports.ts'
import { extension } from '../writing/object-key.ts'

// One attempt of a run: the sink moves a file while the engine writes the next one; then all of it is published.

export interface RunParts {
  readonly rows: Pick<ExportRows, 'measure' | 'stage'>
  readonly selection: RowSelection
  readonly destination: Destination
  /** As the destination's schema read them, with secrets. */
  readonly config: unknown
  readonly run: ExportRun
  readonly outside: Outside
  /** For the files of this run only. */
  readonly stagingFolder: string
  readonly signal: AbortSignal
  /** Called after each file, and once before the first one. */
  onProgress(progress: RunProgress): Promise<void>
}

export interface RunProgress {
  /** Counted before the first file. */
  readonly total: number
  readonly rows: number
  readonly bytes: number
  /** The last row key that the destination has taken; null before. */
  readonly cursor: number | null
}

export async function runExport(parts: RunParts): Promise<RunProgress> {
  const { destination, config, run, outside, stagingFolder, signal } = parts
  await rm(stagingFolder, { recursive: true, force: true })
  await mkdir(stagingFolder, { recursive: true, mode: 0o700 })
  let sink: Sink | null = null
  try {
    const measure = await parts.rows.measure(parts.selection)
    signal.throwIfAborted()
    sink = await destination.open(config, run, outside, signal)
    const progress = await moveRows(parts, measure, sink)
    signal.throwIfAborted()
    await sink.publish(signal)
    sink = null
    return progress
  } finally {
    await sink?.discard(AbortSignal.timeout(discardMs))
    await rm(stagingFolder, { recursive: true, force: true })
  }
}

async function moveRows(parts: RunParts, measure: RowMeasure, sink: Sink): Promise<RunProgress> {
  const { destination, config, selection, stagingFolder, signal, onProgress } = parts
  const { format, compression, maxFileBytes } = destination.files(config)
  let progress: RunProgress = { total: measure.rows, rows: 0, bytes: 0, cursor: null }
  await onProgress(progress)
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])
  const stage = async (part: Part, number: number): Promise<Staged> => {
    const path = join(stagingFolder, `${number}.${extension(format, compression)}`)
    const written = await parts.rows.stage(selection, part === 'all' ? null : part, { path, format, compression }, stopped)
    signal.throwIfAborted()
    return { part, path, written }
  }
  const sizes = partSizes(maxFileBytes)
  const first = firstPart(measure, maxFileBytes)
  let next = first && stage(first, 0)
  let index = 0
  try {
    for (let number = 1; next; number++) {
      const { part, path, written } = await next
      sizes.note(part, written.bytes)
      const after = sizes.next(part, measure)
      next = after && stage(after, number)
      next?.catch(() => undefined) // reported when it is awaited
      if (written.rows > 0) await sink.write({ path, index: index++, format, compression, ...written }, signal)
      await rm(path, { force: true })
      const { rows, bytes, total } = progress
      progress = { total, rows: rows + written.rows, bytes: bytes + written.bytes, cursor: part === 'all' ? null : part.to }
      await onProgress(progress)
    }
  } finally {
    stop.abort()
    await next?.catch(() => undefined) // the folder must not be removed under a file that is being written
  }
  const isFixed = selection.model === 'events' && selection.range.by === 'arrival' && selection.where === null && selection.filters === null
  if (isFixed)
    mustHold('export rows within range', progress.rows <= measure.rows, () => ({
      range: selection.range,
      rows: measure.rows,
      written: progress.rows,
    }))
  return progress
}

interface Staged {
  readonly part: Part
  readonly path: string
  readonly written: WrittenRows
}

type Part = RowPart | 'all'

/** Row keys of the first part, whose size shows how large the others may be. */
const firstKeys = 20_000
/** Larger parts would take too long without progress. */
const mostKeys = 5_000_000

function firstPart({ rows, keys }: RowMeasure, maxFileBytes: number | null): Part | null {
  if (rows === 0) return null
  if (!keys) return 'all'
  const after = keys[0] - 1
  return { after, to: maxFileBytes === null ? keys[1] : Math.min(keys[1], after + firstKeys) }
}

/** Parts with so many keys that their files have about the wanted size, judged by the parts before. */
function partSizes(maxFileBytes: number | null) {
  let keys = 0
  let bytes = 0
  return {
    note(part: Part, written: number): void {
      if (part === 'all') return
      keys += part.to - part.after
      bytes += written
    },
    next(part: Part, { keys: bounds }: RowMeasure): RowPart | null {
      if (part === 'all' || !bounds || part.to >= bounds[1]) return null
      const wanted = bytes === 0 ? mostKeys : Math.floor(((maxFileBytes ?? 0) * 0.95 * keys) / bytes)
      const count = Math.min(mostKeys, Math.max(1000, wanted), 10 * (part.to - part.after))
      return { after: part.to, to: Math.min(bounds[1], part.to + count) }
    },
  }
}
