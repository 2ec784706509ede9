import type { WireBatch } from '../../events/ingestion/wire-batch.ts'

/** Small batches wait this long for others: a message costs each process more than the events of a few requests in it. */
const longestWaitMs = 10
/** More bytes than this do not wait. */
const most = 1 << 16

/** Batches that have become durable, until the engine is notified of them. Nothing that is asked of the engine may overtake them. */
export class Growth {
  private readonly notify: (batches: readonly WireBatch[]) => void
  private batches: WireBatch[] = []
  private bytes = 0
  private soon: NodeJS.Immediate | null = null
  private later: NodeJS.Timeout | null = null

  constructor(notify: (batches: readonly WireBatch[]) => void) {
    this.notify = notify
  }

  /** Null: the log has grown by something that the engine reads from it. */
  add(batch: WireBatch | null): void {
    if (batch) this.batches.push(batch)
    this.bytes += batch?.bytes ?? most
    if (this.bytes >= most) this.soon ??= setImmediate(() => this.flush())
    else this.later ??= setTimeout(() => this.flush(), longestWaitMs).unref()
  }

  flush(): void {
    if (!this.soon && !this.later) return
    if (this.soon) clearImmediate(this.soon)
    if (this.later) clearTimeout(this.later)
    this.soon = this.later = null
    this.bytes = 0
    this.notify(this.batches.splice(0))
  }
}
