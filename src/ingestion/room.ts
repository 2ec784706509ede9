import { WaymarkError } from '../errors/errors.ts'
import { deferred } from '../lib/deferred.ts'

// Past events wait where live ones pass: shares of the queue that may be waiting, and be entered and not worked out, when one more batch comes.
const liveLane = { waiting: 1, entered: 1 / 4 }
const pastLane = { waiting: 1 / 2, entered: 1 / 16 }
/** Batches of past events between the door and the answer: as many may be ahead of a live one. */
const pastAtOnce = 4

export const defaultQueueBytes = 64 * 1024 * 1024

/** Backpressure: bytes of batches that wait to be worked out. Above a share of them callers are made to wait, above all of them they are refused. */
export class Room {
  private readonly limit: number
  /** Of everybody who waits, and of those of them that are in the log. */
  private waitingBytes = 0
  private enteredBytes = 0
  private pastBatches = 0
  private readonly wanting: (() => void)[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  /** Runs `work` when there is room for a batch of so many bytes, which counts until then. */
  async admit<T>(bytes: number, isHistorical: boolean, work: () => Promise<T>): Promise<T> {
    const lane = isHistorical ? pastLane : liveLane
    const limit = this.limit * lane.waiting
    if (this.waitingBytes > 0 && this.waitingBytes + bytes > limit)
      throw new WaymarkError('queue-full', { bytes: this.waitingBytes, limit })
    this.waitingBytes += bytes
    try {
      while (this.enteredBytes > this.limit * lane.entered || (isHistorical && this.pastBatches >= pastAtOnce)) await this.change()
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

  /** So many batches are read back from the log that no more should be. */
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

  /** Resolves when one more may look whether it can go on. */
  change(): Promise<void> {
    const { promise, resolve } = deferred<void>()
    this.wanting.push(resolve)
    return promise
  }

  wake(): void {
    for (const resolve of this.wanting.splice(0)) resolve()
  }
}
