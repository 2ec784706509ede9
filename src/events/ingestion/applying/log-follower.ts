import { setTimeout } from 'node:timers/promises'
import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'
import type { IngestLog } from '../ports.ts'
import type { Work } from '../work.ts'
import type { QueuedBatch } from './queued-batch.ts'

export type FollowedLog = IngestLog & Required<Pick<IngestLog, 'grown'>>

/** Number of queued batches that can be looked up by the sequence number of their first record. */
const remembered = 4096

const pauseMs = 1_000

/** Follows a log that another process writes, and queues its records. */
export class LogFollower {
  private readonly log: FollowedLog
  /** Queues what the log has now. */
  private readonly readOn: (signal: AbortSignal) => Promise<void>
  private readonly report: (error: unknown) => void
  private readonly stopping = new AbortController()
  private readonly stopped = deferred<false>()
  private following: Promise<void> | null = null
  private readonly recent = new Map<number, QueuedBatch>()
  private readonly offers = new Map<number, Work>()
  private readonly expected = new Map<number, Deferred<QueuedBatch | undefined>>()

  constructor(log: FollowedLog, readOn: (signal: AbortSignal) => Promise<void>, report: (error: unknown) => void) {
    this.log = log
    this.readOn = readOn
    this.report = report
  }

  /** `lastSeq`: the last record that was queued. */
  start(lastSeq: () => number): void {
    this.following ??= this.follow(lastSeq)
  }

  /** Offers a batch of the log that is in memory. */
  offer(work: Work, lastSeq: number): void {
    if (work.firstSeq > lastSeq) this.offers.set(work.firstSeq, work)
  }

  hasOffer(firstSeq: number): boolean {
    return this.offers.has(firstSeq)
  }

  takeOffer(firstSeq: number): Work | undefined {
    const work = this.offers.get(firstSeq)
    this.offers.delete(firstSeq)
    return work
  }

  enters(waiting: QueuedBatch): void {
    const { firstSeq } = waiting
    this.offers.delete(firstSeq) // too late: the log was read already
    this.recent.set(firstSeq, waiting)
    for (const seq of this.recent.keys()) {
      if (this.recent.size <= remembered) break
      this.recent.delete(seq)
    }
    for (const [seq, { resolve }] of this.expected) {
      if (seq > firstSeq) continue
      resolve(seq === firstSeq ? waiting : undefined)
      this.expected.delete(seq)
    }
  }

  find(firstSeq: number): QueuedBatch | undefined {
    return this.recent.get(firstSeq)
  }

  /** The batch that begins with a record which may not have been read yet. Undefined: none begins there, or nothing is read any more. */
  async entered(firstSeq: number): Promise<QueuedBatch | undefined> {
    const known = this.recent.get(firstSeq)
    if (known || this.stopping.signal.aborted) return known
    const waiting = this.expected.get(firstSeq) ?? deferred<QueuedBatch | undefined>()
    this.expected.set(firstSeq, waiting)
    return waiting.promise
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    this.stopped.resolve(false)
    await this.following
    for (const { resolve } of this.expected.values()) resolve(undefined)
    this.expected.clear()
  }

  private async follow(lastSeq: () => number): Promise<void> {
    const { signal } = this.stopping
    // Others may add records for ever.
    while (!signal.aborted && (await Promise.race([this.log.grown(lastSeq()), this.stopped.promise]))) await this.read()
  }

  /** A record that cannot be read now may be readable later, so it is not skipped. */
  private async read(): Promise<void> {
    try {
      await this.readOn(this.stopping.signal)
    } catch (error) {
      if (this.stopping.signal.aborted) return
      this.report(error)
      await setTimeout(pauseMs, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined)
    }
  }
}
