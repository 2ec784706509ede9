import type { ApplyStore } from '../storage/duckdb/apply-store.ts'
import type { PreparedEvent } from './prepare.ts'

/** Which event uuids a project has. */
export class UuidIndex {
  private readonly store: ApplyStore
  private pending = new Map<string, number>()

  private constructor(store: ApplyStore) {
    this.store = store
  }

  static async open(store: ApplyStore, _appliedSeq: number): Promise<UuidIndex> {
    return new UuidIndex(store)
  }

  /** The places of those events that came before, in an earlier batch or in this one. */
  async duplicates(events: readonly PreparedEvent[], firstSeq: number): Promise<Set<number>> {
    const found = new Set<number>()
    const unknown: string[] = []
    for (const [i, { uuid, isDropped }] of events.entries()) {
      if (isDropped) continue
      if (this.pending.has(uuid)) found.add(i)
      else {
        this.pending.set(uuid, firstSeq + i)
        unknown.push(uuid)
      }
    }
    const stored = new Set(await this.store.knownUuids(unknown))
    for (const [i, { uuid }] of events.entries()) if (stored.has(uuid)) found.add(i)
    return found
  }

  committed(_seq: number): void {}
}
