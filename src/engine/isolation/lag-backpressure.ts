import { Backpressure } from '../../events/ingestion/applying/backpressure.ts'
import type { RecentWaits } from '../../events/ingestion/applying/recent-waits.ts'
import { keptAlive } from '../../lib/flow/kept-alive.ts'

/**
 * Backpressure for a log that another process follows, in bytes of batches that the engine has not applied. While the engine is down callers do not
 * wait: the log accepts everything.
 */
export class LagBackpressure implements Pick<Backpressure, 'admit'> {
  private readonly room: Backpressure
  private readonly isFollowed: () => boolean
  private readonly behind: { readonly seq: number; readonly bytes: number }[] = []

  constructor(limit: number, isFollowed: () => boolean, queries?: RecentWaits) {
    this.room = new Backpressure(limit, queries)
    this.isFollowed = isFollowed
  }

  admit<T>(bytes: number, isHistorical: boolean, work: () => Promise<T>): Promise<T> {
    return this.isFollowed() || isHistorical ? keptAlive(this.room.admit(bytes, isHistorical, work)) : work()
  }

  /** A batch that ends with record `seq` is in the log. */
  enter(seq: number, bytes: number): void {
    if (!this.isFollowed()) return
    this.behind.push({ seq, bytes })
    this.room.enter(bytes)
  }

  /** Batches up to record `seq` are applied. */
  leave(seq: number): void {
    const index = this.behind.findIndex((batch) => batch.seq > seq)
    for (const { bytes } of this.behind.splice(0, index < 0 ? this.behind.length : index)) this.room.leave(bytes)
  }

  /** The engine ended: releases the waiting callers. */
  release(): void {
    this.leave(Number.POSITIVE_INFINITY)
  }
}
