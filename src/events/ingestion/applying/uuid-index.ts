import { putWords } from '../../../lib/ids/uuid-words.ts'
import type { PreparedEvent } from '../decoding/prepare.ts'
import type { EventWriter } from '../ports.ts'
import { firstRunRecords, UuidRuns } from '../uuids/runs.ts'
import { UuidSet } from '../uuids/uuid-set.ts'

/** Uuids of a part of the log that is not in a run yet. */
interface Part {
  readonly from: number
  to: number
  readonly uuids: UuidSet
}

/** Fewer are read from the store in no time. */
const leastLastRecords = 2048

/**
 * The exact set of all event uuids of a project. The latest are in memory; older ones are in sorted runs on disk, of which memory
 * holds filters. It is not a source of truth: missing or damaged parts are rebuilt from the events.
 */
export class UuidIndex {
  private readonly store: EventWriter
  private runs: UuidRuns
  /** In the order of the log; the last one grows. */
  private parts: Part[] = []
  private committedSeq: number
  private sealing: Promise<void> = Promise.resolve()
  private isClosed = false
  private readonly onError: (error: unknown) => void
  private readonly folder: string | null

  private constructor(
    store: EventWriter,
    runs: UuidRuns,
    {
      appliedSeq,
      folder,
      onError,
    }: { readonly appliedSeq: number; readonly folder: string | null; readonly onError: (error: unknown) => void },
  ) {
    this.folder = folder
    this.store = store
    this.runs = runs
    this.committedSeq = appliedSeq
    this.onError = onError
  }

  static async open(store: EventWriter, appliedSeq: number, folder: string | null, onError: (error: unknown) => void): Promise<UuidIndex> {
    const runs = UuidRuns.open(folder, await store.identity(), appliedSeq)
    const index = new UuidIndex(store, runs, { appliedSeq, folder, onError })
    try {
      await index.readStore()
      runs.merge()
    } catch (error) {
      await index.close()
      throw error
    }
    return index
  }

  private async readStore(): Promise<void> {
    const key = new Uint32Array(4)
    for await (const { uuids, toSeq } of this.store.uuids(this.runs.toSeq + 1, this.committedSeq)) {
      const part = this.growing(this.last + 1)
      for (const uuid of uuids) {
        putWords(uuid, key, 0)
        part.uuids.add(key, 0)
      }
      part.to = toSeq
      await this.seal()
    }
  }

  private get last(): number {
    return this.parts.at(-1)?.to ?? this.runs.toSeq
  }

  private growing(from: number): Part {
    const last = this.parts.at(-1)
    if (last && last.uuids.size < firstRunRecords) return last
    const part = { from, to: from - 1, uuids: new UuidSet() }
    this.parts.push(part)
    return part
  }

  /** The indexes of duplicates, of an earlier batch or of this one. Batches come in log order. */
  async duplicates(events: readonly PreparedEvent[], firstSeq: number): Promise<Set<number>> {
    const keys = new Uint32Array(events.length * 4)
    for (const [i, event] of events.entries()) putWords(event.uuid, keys, i * 4)
    const found = await this.known(events, keys)
    const part = this.growing(this.last + 1)
    for (const [i, event] of events.entries()) if (!event.isDropped && !found.has(i)) part.uuids.add(keys, i * 4)
    part.to = firstSeq + events.length - 1
    return found
  }

  private async known(events: readonly PreparedEvent[], keys: Uint32Array): Promise<Set<number>> {
    const found = new Set<number>()
    const fresh = new UuidSet(events.length)
    try {
      for (const [i, event] of events.entries()) {
        const at = i * 4
        if (event.isDropped) continue
        if (fresh.has(keys, at) || this.parts.some((part) => part.uuids.has(keys, at)) || this.runs.has(keys, at)) found.add(i)
        else fresh.add(keys, at)
      }
      return found
    } catch (error) {
      this.onError(error)
      await this.rebuild()
      return this.known(events, keys)
    }
  }

  committed(seq: number): void {
    this.committedSeq = Math.max(this.committedSeq, seq)
    this.sealing = this.sealing.then(() => this.seal()).catch(this.onError)
  }

  /** Converts full parts whose events are applied into runs. */
  private async seal(): Promise<void> {
    for (;;) {
      const [first, next] = this.parts
      if (!first || first.to > this.committedSeq || !(next || first.uuids.size >= firstRunRecords) || this.isClosed) return
      await this.runs.add({ from: first.from, to: first.to }, first.uuids.records())
      this.parts.shift()
    }
  }

  /** Begins again with the events of the store, of which some were removed. Everything that was looked up is applied. */
  async forget(): Promise<void> {
    await this.sealing
    await this.runs.clear()
    await this.runs.close()
    this.parts = []
    this.runs = UuidRuns.open(this.folder, await this.store.identity(), this.committedSeq)
    await this.readStore()
  }

  private async rebuild(): Promise<void> {
    await this.sealing
    await this.runs.clear()
    const kept = this.parts
    const committed = this.committedSeq
    this.committedSeq = (kept[0]?.from ?? committed + 1) - 1
    this.parts = []
    await this.readStore()
    this.parts.push(...kept)
    this.committedSeq = committed
  }

  /** Resolves when the full parts of committed events are in runs, and the runs are merged. */
  async settled(): Promise<void> {
    await this.sealing
    await this.runs.settled()
  }

  /** Bytes of memory for uuids in runs. */
  get runsMemory(): { readonly bytes: number; readonly count: number } {
    return { bytes: this.runs.memory, count: this.runs.count }
  }

  /** The next process reads no uuids of the store then. */
  private async sealLast(): Promise<void> {
    const [last, next] = this.parts
    if (!last || next || last.to > this.committedSeq || last.uuids.size < leastLastRecords || !this.runs.areKept) return
    await this.runs.add({ from: last.from, to: last.to }, last.uuids.records(), { merges: false })
    this.parts = []
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.sealing
    await this.sealLast().catch(this.onError)
    await this.runs.close()
  }
}
