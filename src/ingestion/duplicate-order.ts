import type { Trouble } from './trouble.ts'
import type { UuidIndex } from './uuid-index.ts'
import type { Waiting } from './waiting.ts'

/** Finds duplicates in the order of the log: of two equal events the one that was durable first stays. */
export class DuplicateOrder {
  private readonly uuids: UuidIndex
  private readonly trouble: Trouble
  private readonly onDecided: (waiting: Waiting) => void
  private readonly arrived = new Map<number, Waiting>()
  private deciding: Promise<void> | null = null
  private nextSeq: number

  constructor(uuids: UuidIndex, trouble: Trouble, nextSeq: number, onDecided: (waiting: Waiting) => void) {
    this.uuids = uuids
    this.trouble = trouble
    this.nextSeq = nextSeq
    this.onDecided = onDecided
  }

  take(waiting: Waiting): void {
    this.arrived.set(waiting.firstSeq, waiting)
    this.decide()
  }

  /** The next record of the log is this one: a damaged log has gaps. */
  async skipTo(seq: number): Promise<void> {
    await this.deciding
    this.nextSeq = seq
  }

  get undecided(): readonly Waiting[] {
    return [...this.arrived.values()]
  }

  async settled(): Promise<void> {
    await this.deciding
  }

  private decide(): void {
    this.deciding ??= this.decideAll().finally(() => {
      this.deciding = null
      if (this.arrived.has(this.nextSeq) && !this.trouble.isGivenUp) this.decide()
    })
  }

  private async decideAll(): Promise<void> {
    for (let waiting = this.arrived.get(this.nextSeq); waiting; waiting = this.arrived.get(this.nextSeq)) {
      if (!(await this.find(waiting))) return
      this.arrived.delete(waiting.firstSeq)
      this.nextSeq = waiting.firstSeq + waiting.count
      waiting.decided.resolve(waiting.duplicates)
      this.onDecided(waiting)
    }
  }

  /** False when it was given up. */
  private async find(waiting: Waiting): Promise<boolean> {
    const { content } = waiting.work!
    if (content.kind !== 'event') return true
    for (let attempt = 0; ; attempt++) {
      try {
        waiting.duplicates = content.duplicates = await this.uuids.duplicates(content.events, waiting.firstSeq)
        return true
      } catch (error) {
        this.trouble.failed(error, attempt)
        if (this.trouble.isGivenUp) return false
        await this.trouble.pause(attempt)
      }
    }
  }
}
