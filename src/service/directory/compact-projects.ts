import { stat } from 'node:fs/promises'
import { storeCopyOf } from '../../engine/storage/files/store-copy.ts'
import { filesOf } from '../../engine/storage/project-storage.ts'
import { WaymarkError } from '../../errors/errors.ts'

// Gives the space of deleted rows back to the file system, project by project.

export interface CompactOptions {
  /** Default: all. */
  readonly project?: number
  /** Also stores that would give back less than a tenth of their size. Default: false. */
  readonly force?: boolean
  readonly signal?: AbortSignal
  onProgress?(progress: CompactProgress): void
}

export interface CompactProgress {
  readonly phase: 'compacting'
  readonly project: number
  /** Bytes of the copy so far. */
  readonly bytes: number
  /** Of the store, of which the copy needs a part. */
  readonly ofBytes: number
}

export interface CompactedProject {
  readonly id: number
  readonly name: string
  /** `skipped`: less than a tenth of it would be given back. `failed`: it is as it was. */
  readonly outcome: 'compacted' | 'skipped' | 'failed'
  readonly bytes_before: number
  readonly bytes_after: number
  readonly given_back: number
  readonly seconds: number
  /** Why it failed. */
  readonly reason?: string
}

export interface CompactSummary {
  readonly projects: readonly CompactedProject[]
  readonly bytes_before: number
  readonly bytes_after: number
  readonly given_back: number
  readonly seconds: number
}

interface Compacting {
  readonly isForced: boolean
  readonly signal: AbortSignal
}
interface Compacted {
  readonly outcome: 'compacted' | 'skipped'
  readonly before: number
  readonly after: number
  readonly seconds: number
}

export interface CompactParts {
  readonly dataDir: string
  readonly projects: readonly { readonly id: number; readonly name: string }[]
  compact(project: number, wanted: Compacting): Promise<Compacted>
}

const lookMs = 250

export async function compactProjects(parts: CompactParts, options: CompactOptions, signal: AbortSignal): Promise<CompactSummary> {
  const began = performance.now()
  const wanted = { isForced: options.force ?? false, signal }
  const done: CompactedProject[] = []
  for (const { id, name } of parts.projects) {
    signal.throwIfAborted()
    const stop = watched(parts, id, options.onProgress)
    try {
      const { outcome, before, after, seconds } = await parts.compact(id, wanted)
      done.push({ id, name, outcome, bytes_before: before, bytes_after: after, given_back: before - after, seconds })
    } catch (error) {
      if (signal.aborted) throw error
      const size = await sizeOf(filesOf(parts.dataDir, id).store)
      const reason = error instanceof WaymarkError ? error.message : `It failed: ${error instanceof Error ? error.message : String(error)}`
      done.push({ id, name, outcome: 'failed', bytes_before: size, bytes_after: size, given_back: 0, seconds: 0, reason })
    } finally {
      stop()
    }
  }
  const sum = (of: (one: CompactedProject) => number) => done.reduce((total, one) => total + of(one), 0)
  return {
    projects: done,
    bytes_before: sum((one) => one.bytes_before),
    bytes_after: sum((one) => one.bytes_after),
    given_back: sum((one) => one.given_back),
    seconds: (performance.now() - began) / 1000,
  }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** Reports how large the copy is. Returns what ends it. */
function watched({ dataDir }: CompactParts, project: number, report: CompactOptions['onProgress']): () => void {
  if (!report) return () => undefined
  const { store } = filesOf(dataDir, project)
  const look = async () => {
    const [bytes, ofBytes] = await Promise.all([sizeOf(storeCopyOf(store)), sizeOf(store)])
    report({ phase: 'compacting', project, bytes, ofBytes })
  }
  const timer = setInterval(() => void look(), lookMs)
  return () => clearInterval(timer)
}
