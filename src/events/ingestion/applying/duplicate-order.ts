import type { ApplyFailures } from './apply-failures.ts'
import type { QueuedBatch } from './queued-batch.ts'
import type { UuidIndex } from './uuid-index.ts'

const forgetsUuids = ({ work }: QueuedBatch): boolean =>
  work!.content.kind === 'removals' && work!.content.removals.some(({ remove }) => remove === 'import')

/** Finds duplicates in log order: of two events with one uuid, the one that was durable first is kept. */
export class DuplicateOrder {
  private readonly uuids: UuidIndex
  private readonly failures: ApplyFailures
  private readonly onDecided: (waiting: QueuedBatch) => void
  private readonly arrived = new Map<number, QueuedBatch>()
  private deciding: Promise<void> | null = null
  private nextSeq: number

  constructor(uuids: UuidIndex, failures: ApplyFailures, nextSeq: number, onDecided: (waiting: QueuedBatch) => void) {
    this.uuids = uuids
    this.failures = failures
    this.nextSeq = nextSeq
    this.onDecided = onDecided
  }

  take(waiting: QueuedBatch): void {
    this.arrived.set(waiting.firstSeq, waiting)
    this.decide()
  }

  /** Continues at this record. A damaged log has gaps. */
  async skipTo(seq: number): Promise<void> {
    await this.deciding
    this.nextSeq = seq
  }

  get undecided(): readonly QueuedBatch[] {
    return [...this.arrived.values()]
  }

  async settled(): Promise<void> {
    await this.deciding
  }

  private decide(): void {
    this.deciding ??= this.decideAll().finally(() => {
      this.deciding = null
      if (this.arrived.has(this.nextSeq) && !this.failures.isAbandoned) this.decide()
    })
  }

  private async decideAll(): Promise<void> {
    for (let waiting = this.arrived.get(this.nextSeq); waiting; waiting = this.arrived.get(this.nextSeq)) {
      if (!(await this.find(waiting))) return
      this.arrived.delete(waiting.firstSeq)
      this.nextSeq = waiting.firstSeq + waiting.count
      const forgets = forgetsUuids(waiting)
      waiting.decided.resolve(waiting.duplicates)
      this.onDecided(waiting)
      if (forgets && !(await this.forget(waiting))) return
    }
  }

  /** What comes after the events of an import were removed is compared with what is left. False if it was abandoned. */
  private async forget(waiting: QueuedBatch): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      try {
        await waiting.applied.promise
        await this.uuids.forget()
        return true
      } catch (error) {
        if (this.failures.isAbandoned) return false
        this.failures.failed(error, attempt)
        if (this.failures.isAbandoned) return false
        await this.failures.pause(attempt)
      }
    }
  }

  /** False if the search was abandoned. */
  private async find(waiting: QueuedBatch): Promise<boolean> {
    const { content } = waiting.work!
    if (content.kind !== 'event') return true
    for (let attempt = 0; ; attempt++) {
      try {
        waiting.duplicates = content.duplicates = await this.uuids.duplicates(content.events, waiting.firstSeq)
        return true
      } catch (error) {
        this.failures.failed(error, attempt)
        if (this.failures.isAbandoned) return false
        await this.failures.pause(attempt)
      }
    }
  }
}
