import type { AsideRecord, AttemptNote, AttemptStore } from '../ports.ts'

// A record that ends the process whenever it is applied would end it at every replay. So the records that are being applied are noted before, and the note is
// cleared after. A process that finds one applies these records at once again: most processes end for another reason. If they end it, too, the next one applies them
// in ever smaller parts, and sets a record aside that has ended the process alone again.

/** Suspicious records are applied in this many parts, so a record is alone after few ends of the process. */
const parts = 32
/** Another reason may have ended a process that had worked on the record for less than this. */
const surelyMs = 200
const heartbeatMs = 100
const ifSure = 4
/** Twice for sure, or eight times at once. */
const enough = 8

const weightOf = ({ weight, lasted }: AttemptNote): number => weight + (lasted >= surelyMs ? ifSure : 1)

export class Attempts {
  private readonly store: AttemptStore
  /** What the last process was applying when it ended. */
  private suspects: { readonly from: number; readonly to: number; readonly step: number; readonly weight: number } | null = null
  private timer: NodeJS.Timeout | undefined

  constructor(store: AttemptStore, appliedSeq: number) {
    this.store = store
    const { found } = store
    if (!found || found.to <= appliedSeq) return
    const from = Math.max(found.from, appliedSeq + 1)
    const isAlone = found.from === found.to
    this.suspects = {
      from,
      to: found.to,
      step: isAlone || found.weight > 0 ? Math.max(1, Math.ceil((found.to - from + 1) / parts)) : Number.POSITIVE_INFINITY,
      weight: isAlone ? weightOf(found) : 0,
    }
  }

  /** The record that must not be applied again; null: there is none. */
  get condemned(): number | null {
    return this.suspects && this.suspects.weight >= enough ? this.suspects.from : null
  }

  get aside(): ReadonlySet<number> {
    return this.store.aside
  }

  setAside(record: AsideRecord): Promise<string> {
    this.suspects = null
    return this.store.setAside(record)
  }

  /** How many records may be applied in one transaction that begins with this one; infinite: any number. */
  most(seq: number): number {
    const { suspects } = this
    if (!suspects || seq < suspects.from || seq > suspects.to) return Number.POSITIVE_INFINITY
    return Math.min(suspects.step, suspects.to - seq + 1)
  }

  /** Of a record alone, what speaks against it; of several, whether they were in a note before. */
  private weightIn(from: number, to: number): number {
    const { suspects } = this
    if (from === to) return suspects?.from === from ? suspects.weight : 0
    return suspects && from <= suspects.to && to >= suspects.from ? 1 : 0
  }

  begin(from: number, to: number): void {
    const weight = this.weightIn(from, to)
    this.store.note({ from, to, weight, lasted: 0 })
    clearInterval(this.timer)
    if (Number.isFinite(this.most(from)) && from === to) {
      const since = performance.now()
      this.timer = setInterval(() => this.store.note({ from, to, weight, lasted: Math.round(performance.now() - since) }), heartbeatMs)
      this.timer.unref()
    }
  }

  /** Everything up to this record is applied; `isAll`: and nothing else is being applied. */
  end(seq: number, isAll: boolean): void {
    clearInterval(this.timer)
    if (this.suspects && seq >= this.suspects.to) this.suspects = null
    if (isAll) this.store.note(null)
  }

  close(): void {
    clearInterval(this.timer)
    this.store.close()
  }
}

/** For a store in memory, which does not outlive the process. */
export const noAttempts: AttemptStore = {
  found: null,
  note: () => undefined,
  aside: new Set(),
  setAside: async () => '',
  close: () => undefined,
}
