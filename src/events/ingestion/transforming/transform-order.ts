import type { ApplyFailures } from '../applying/apply-failures.ts'
import type { QueuedBatch } from '../applying/queued-batch.ts'
import type { Transform } from './transform.ts'

/** Events that one call passes through the plugins, if more batches are waiting. */
const eventsOfCall = 1_000
/** Calls at the same time: while a result is prepared, the plugins have the next events. */
const callsAtOnce = 3

/** Hands batches on in their order, after the transformations. Without transformations it hands them on at once. */
export class TransformOrder {
  private readonly transform: Transform
  private readonly failures: ApplyFailures
  private readonly onTransformed: (waiting: QueuedBatch) => void
  /** In order; those that are being transformed come first. */
  private queue: QueuedBatch[] = []
  private begun = 0
  private readonly done = new Set<QueuedBatch>()
  private readonly calls = new Set<Promise<void>>()

  constructor(transform: Transform, failures: ApplyFailures, onTransformed: (waiting: QueuedBatch) => void) {
    this.transform = transform
    this.failures = failures
    this.onTransformed = onTransformed
  }

  take(waiting: QueuedBatch): void {
    if (this.queue.length === 0 && !this.mustTransform(waiting)) this.onTransformed(waiting)
    else {
      this.queue.push(waiting)
      this.begin()
    }
  }

  get unfinished(): readonly QueuedBatch[] {
    return this.queue
  }

  async settled(): Promise<void> {
    while (this.calls.size > 0) await Promise.all(this.calls)
  }

  private mustTransform({ kind }: QueuedBatch): boolean {
    return kind === 'event' && this.transform.isOn()
  }

  private begin(): void {
    while (this.calls.size < callsAtOnce && this.begun < this.queue.length && !this.failures.isAbandoned) {
      const group: QueuedBatch[] = []
      let events = 0
      for (let next = this.queue[this.begun]; next && events < eventsOfCall; next = this.queue[this.begun]) {
        this.begun++
        if (this.mustTransform(next)) {
          group.push(next)
          events += next.count
        } else this.done.add(next)
      }
      if (group.length === 0) continue
      const call: Promise<void> = this.call(group).then(() => {
        this.calls.delete(call)
        if (!this.failures.isAbandoned) this.begin()
      })
      this.calls.add(call)
    }
    this.handOn()
  }

  private async call(group: readonly QueuedBatch[]): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        const works = await this.transform.transform(group.map(({ work }) => work!))
        for (const [i, waiting] of group.entries()) waiting.work = works[i]!
        break
      } catch (error) {
        this.failures.failed(error, attempt)
        if (this.failures.isAbandoned) return
        await this.failures.pause(attempt)
      }
    }
    if (this.failures.isAbandoned) return
    for (const waiting of group) this.done.add(waiting)
  }

  private handOn(): void {
    while (this.queue.length > 0 && this.done.delete(this.queue[0]!)) {
      this.begun--
      this.onTransformed(this.queue.shift()!)
    }
  }
}
