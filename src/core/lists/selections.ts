import type { ChangedLists } from './changed-lists.ts'
import type { EventLists } from './event-lists.ts'

/** The events of some persons that meet the conditions of a fold, whatever their time. Its arrays are shared between threads. */
export interface SelectionPart {
  /** Numbers of the persons: from the first one up to another. */
  readonly from: number
  readonly to: number
  /** The events of the person `from + p` are `start[p]` to `end[p]`, in order of time. */
  readonly start: Int32Array
  readonly end: Int32Array
  /** Where they are in the lists. */
  readonly index: Int32Array
  /** `-Infinity` in free entries. */
  readonly time: Float64Array
  readonly bits: Uint8Array | Int32Array
  readonly further: Int32Array | null
  /** The entries that each person has, with free ones. */
  readonly room: Int32Array
  /** Entries that belong to a person, or did. The others are for lists that outgrow theirs. */
  used: number
}
/** Of all persons. */
export type Selection = readonly SelectionPart[]

/** Finds the events of some persons again, whose lists have changed. Null: the selection has no room for them. */
export type Reselect = (selection: Selection, lists: EventLists, persons: Iterable<number>) => Selection | null
/** Null: it was asked for, or it is not worth its memory. */
interface Kept {
  selection: Selection | null
  reselect: Reselect | null
}

/** What keeps selections between queries. */
export interface KeptSelections {
  /** `isWanted`: it was asked for before. `reselect`: how a selection that is made now follows the lists; null: it ends with the next events. */
  find(key: string, reselect: Reselect | null): { readonly selection: Selection | null; readonly isWanted: boolean }
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
 * The selections of a project. The first query with some conditions finds its events itself, the second one makes a selection, further ones read it. So
 * queries that are asked once pay nothing for it. New events join the selections that they belong to, before the next one is read.
 */
export class Selections {
  bytes = 0
  private version = -1
  /** By key, in order of last use. */
  private readonly known = new Map<string, Kept>()
  private readonly useless = new Set<string>()

  private readonly changes: ChangedLists

  constructor(private readonly lists: EventLists) {
    this.changes = lists.watch()
  }

  find(key: string, reselect: Reselect | null): { readonly selection: Selection | null; readonly isWanted: boolean } {
    this.follow()
    const kept = this.known.get(key) ?? { selection: null, reselect }
    const isWanted = this.known.has(key) && kept.selection === null && !this.useless.has(key)
    if (kept.selection === null) kept.reselect = reselect
    this.known.delete(key)
    this.known.set(key, kept)
    if (this.known.size > mostKeys) this.forgetOldest()
    return { selection: kept.selection, isWanted }
  }

  /** Keeps it if it saves something and fits: into its share, and into `unused` bytes. Returns the bytes that were dropped for it. */
  keep(key: string, selection: Selection, unused: number): number {
    this.follow()
    const known = this.known.get(key)
    if (known) this.drop(known) // another query was as quick
    const events = selection.reduce((sum, { used }) => sum + used, 0)
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
    this.known.set(key, { selection, reselect: known?.reselect ?? null })
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
    const [key, kept] = this.known.entries().next().value!
    this.known.delete(key)
    this.useless.delete(key)
    this.drop(kept)
  }

  private dropOldest(): void {
    for (const kept of this.known.values()) {
      if (!kept.selection) continue
      this.drop(kept)
      return
    }
  }

  private drop(kept: Kept): void {
    if (kept.selection) this.bytes -= bytesOf(kept.selection)
    kept.selection = null
  }

  /** The lists have not changed since their last reader left, so nobody reads a selection that is behind them. */
  private follow(): void {
    const { lists } = this
    if (this.version === lists.version) return
    this.version = lists.version
    const changed = this.changes.take()
    if (!changed) {
      this.clear()
      return
    }
    for (const [key, kept] of this.known) {
      const { selection, reselect } = kept
      this.drop(kept)
      if (!reselect) {
        this.known.delete(key)
        this.useless.delete(key)
      } else if (!selection) continue
      else kept.selection = reselect(selection, lists, changed.keys())
      if (kept.selection) this.bytes += bytesOf(kept.selection)
    }
  }
}

const bytesOf = (selection: Selection): number =>
  selection.reduce(
    (sum, { start, index, time, bits, further }) =>
      sum + 3 * start.byteLength + index.byteLength + time.byteLength + bits.byteLength + (further?.byteLength ?? 0),
    0,
  )
