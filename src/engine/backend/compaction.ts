import { setTimeout } from 'node:timers/promises'
import { WaymarkError } from '../../errors/errors.ts'
import type { StoreCopy } from '../storage/store-space.ts'
import type { ProjectBackend } from './backend.ts'

// Compacting: the store is copied without the space of deleted rows while it is used, then closed for a moment and replaced by its copy. What was applied since the
// copy began is applied again, from the log.

/** Part of a file that a copy must do without. */
const leastUnused = 0.1
export const isLittle = (unused: number, bytes: number): boolean => unused < bytes * leastUnused

/** What arrives while a store is copied is applied twice, the second time while the project is closed. */
const mostAgain = { records: 250_000, bytes: 256 * 1024 ** 2 }
const lookMs = 100

export interface Compacting {
  /** Also a store that has little unused space. */
  readonly isForced: boolean
  readonly signal: AbortSignal
}

/** What compacting a store gave back. */
export interface Compacted {
  readonly outcome: 'compacted' | 'skipped'
  /** Bytes of its file. */
  readonly before: number
  readonly after: number
  readonly seconds: number
}

export const failed = (message: string) => new WaymarkError('command-failed', { message })

/** Copies a store. What arrives meanwhile must be few enough to be applied again. */
export async function copied(backend: Pick<ProjectBackend, 'space' | 'position' | 'logState'>, signal: AbortSignal): Promise<StoreCopy> {
  signal.throwIfAborted()
  const arrived = arrivals(backend)
  const copying = backend.space.copy()
  const ended = new AbortController()
  const end = () => ended.abort()
  copying.then(end, end)
  while (!ended.signal.aborted) {
    await setTimeout(lookMs, undefined, { signal: ended.signal }).catch(() => undefined)
    const tooMuch = arrived()
    if (ended.signal.aborted || !(signal.aborted || tooMuch)) continue
    await backend.space.discard()
    await copying.catch(() => undefined)
    signal.throwIfAborted()
    throw tooMuch
  }
  return copying
}

/** Why too much has arrived since; null: it has not. */
function arrivals(backend: Pick<ProjectBackend, 'position' | 'logState'>): () => WaymarkError | null {
  const bytesOf = () => backend.logState?.log.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0
  const [position, bytes] = [backend.position, bytesOf()]
  return () => {
    const records = backend.position - position
    if (records <= mostAgain.records && bytesOf() - bytes <= mostAgain.bytes) return null
    return failed(
      `${records.toLocaleString('en')} records arrived while the store was copied, more than can be applied again while the project is closed. ` +
        'The store is as it was. Compact when fewer events arrive.',
    )
  }
}
