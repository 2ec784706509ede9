import { WaymarkError } from '../../../errors/errors.ts'
import { deferred } from '../../../lib/flow/deferred.ts'
import { RecentWaits } from './recent-waits.ts'

// Live events overtake past ones: for each lane, the fraction of the limit that may be waiting, and that may be queued but not applied, when another batch arrives;
// the latter also while queries come, which wait for all that is queued.
const liveLane = { waiting: 1, entered: 1 / 4, aheadOfQueries: 1 / 24 }
const pastLane = { waiting: 1 / 2, entered: 1 / 16, aheadOfQueries: 1 / 32 }
/** Maximum number of concurrent batches of past events, so at most this many are ahead of a live one. */
const maxPastBatches = 4

export const defaultQueueBytes = 64 * 1024 * 1024

/** Limits the bytes of batches that are not applied. Above a fraction of the limit callers wait; above the limit they are refused (`queue-full`). */
export class Backpressure {
  private readonly limit: number
  private readonly queries: RecentWaits
  /** Bytes of all waiting batches, and of those among them that are in the log. */
  private waitingBytes = 0
  private enteredBytes = 0
  private pastBatches = 0
  private readonly wanting: (() => void)[] = []
  private isClosed = false

  constructor(limit: number, queries = new RecentWaits()) {
    this.limit = limit
    this.queries = queries
  }

  /** Runs `work` once the batch fits. Its bytes count as waiting until then. */
  async admit<T>(bytes: number, isHistorical: boolean, work: () => Promise<T>): Promise<T> {
    const lane = isHistorical ? pastLane : liveLane
    const limit = this.limit * lane.waiting
    if (this.waitingBytes > 0 && this.waitingBytes + bytes > limit)
      throw new WaymarkError('queue-full', { bytes: this.waitingBytes, limit })
    this.waitingBytes += bytes
    try {
      const isFull = () => this.enteredBytes > this.limit * (this.queries.areThere ? lane.aheadOfQueries : lane.entered)
      while (!this.isClosed && (isFull() || (isHistorical && this.pastBatches >= maxPastBatches))) await this.change()
      if (isHistorical) this.pastBatches++
      try {
        return await work()
      } finally {
        if (isHistorical) {
          this.pastBatches--
          this.wake()
        }
      }
    } finally {
      this.waitingBytes -= bytes
    }
  }

  /** No more batches should be read back from the log for now. */
  get isCrowded(): boolean {
    return this.enteredBytes > this.limit * pastLane.entered
  }

  enter(bytes: number): void {
    this.waitingBytes += bytes
    this.enteredBytes += bytes
  }

  leave(bytes: number): void {
    this.waitingBytes -= bytes
    this.enteredBytes -= bytes
    this.wake()
  }

  /** Resolves when the next waiter should check again. */
  change(): Promise<void> {
    const { promise, resolve } = deferred<void>()
    this.wanting.push(resolve)
    return promise
  }

  /** Nothing will leave any more: the waiting callers go on, to be refused. */
  close(): void {
    this.isClosed = true
    this.wake()
  }

  wake(): void {
    for (const resolve of this.wanting.splice(0)) resolve()
  }
}
