import type { EventLists } from './event-lists.ts'

/** The events of some persons that meet the conditions of a fold, whatever their time. Its arrays are shared between threads. */
export interface SelectionPart {
  /** Numbers of the persons: from the first one up to another. */
  readonly from: number
  readonly to: number
  /** The events of the person `from + p` are `offsets[p]` to `offsets[p + 1]`, in order of time. */
  readonly offsets: Int32Array
  /** Where they are in the lists. */
  readonly index: Int32Array
  readonly time: Float64Array
  readonly bits: Uint8Array | Int32Array
  readonly further: Int32Array | null
}
/** Of all persons. */
export type Selection = readonly SelectionPart[]

/** What keeps selections between queries. */
export interface KeptSelections {
  /** `isWanted`: it was asked for before, and the lists have not changed since. */
  find(key: string): { readonly selection: Selection | null; readonly isWanted: boolean }
  /** Keeps it if memory is unused. */
  keep(key: string, selection: Selection): void
}

/** Keys that are remembered: the others count as new. */
const mostKeys = 256
/** A selection of most events saves nothing. */
const mostShare = 0.6
/** Of the memory of the lists. */
const memoryShare = 1 / 4

/**
 * The selections of a project, as of one version of its lists. The first query with some conditions finds its events itself, the second one makes a
 * selection, further ones read it. So queries that are asked once, or while events arrive, pay nothing for it.
 */
export class Selections {
  bytes = 0
  private version = -1
  /** By key, in order of last use. Null: it was asked for, or it is not worth its memory. */
  private readonly known = new Map<string, Selection | null>()
  private readonly useless = new Set<string>()

  constructor(private readonly lists: Pick<EventLists, 'version' | 'events' | 'bytes'>) {}

  find(key: string): { readonly selection: Selection | null; readonly isWanted: boolean } {
    this.forgetOld()
    const selection = this.known.get(key) ?? null
    const isWanted = this.known.has(key) && selection === null && !this.useless.has(key)
    this.known.delete(key)
    this.known.set(key, selection)
    if (this.known.size > mostKeys) this.forgetOldest()
    return { selection, isWanted }
  }

  /** Keeps it if it saves something and fits: into its share, and into `unused` bytes. Returns the bytes that were dropped for it. */
  keep(key: string, selection: Selection, unused: number): number {
    this.forgetOld()
    const events = selection.reduce((sum, { index }) => sum + index.length, 0)
    const bytes = bytesOf(selection)
    const most = this.lists.bytes * memoryShare
    if (events > this.lists.events * mostShare || bytes > Math.min(most, this.bytes + unused)) {
      this.useless.add(key)
      return 0
    }
    const before = this.bytes
    while (this.bytes > 0 && this.bytes + bytes > Math.min(most, before + unused)) this.dropOldest()
    const dropped = before - this.bytes
    this.known.delete(key)
    this.known.set(key, selection)
    this.bytes += bytes
    return dropped
  }

  /** Returns the bytes that they had. */
  clear(): number {
    const { bytes } = this
    this.known.clear()
    this.useless.clear()
    this.bytes = 0
    return bytes
  }

  private forgetOldest(): void {
    const [key, selection] = this.known.entries().next().value!
    this.known.delete(key)
    this.useless.delete(key)
    if (selection) this.bytes -= bytesOf(selection)
  }

  private dropOldest(): void {
    for (const [key, selection] of this.known) {
      if (!selection) continue
      this.known.set(key, null)
      this.bytes -= bytesOf(selection)
      return
    }
  }

  private forgetOld(): void {
    if (this.version === this.lists.version) return
    this.clear()
    this.version = this.lists.version
  }
}

const bytesOf = (selection: Selection): number =>
  selection.reduce(
    (sum, { offsets, index, time, bits, further }) =>
      sum + offsets.byteLength + index.byteLength + time.byteLength + bits.byteLength + (further?.byteLength ?? 0),
    0,
  )
