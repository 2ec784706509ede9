import { Room } from '../ingestion/room.ts'

/** Bytes of events that are acknowledged and not in the store. Live events wait at a quarter of it. */
const mostBehind = 256 * 1024 ** 2

/**
 * Backpressure of a log that another process follows: whoever sends faster than events are applied is made to wait, or queries would never catch up. While
 * the engine is not there nobody waits for it.
 */
export class LagRoom implements Pick<Room, 'admit'> {
  private readonly room = new Room(mostBehind)
  private readonly isFollowed: () => boolean
  /** Of batches that are in the log and not in the store. */
  behindBytes = 0
  private readonly behind: { readonly seq: number; readonly bytes: number }[] = []

  constructor(isFollowed: () => boolean) {
    this.isFollowed = isFollowed
  }

  admit<T>(bytes: number, isHistorical: boolean, work: () => Promise<T>): Promise<T> {
    return this.isFollowed() || isHistorical ? this.room.admit(bytes, isHistorical, work) : work()
  }

  /** A batch that ends with record `seq` is in the log. */
  enter(seq: number, bytes: number): void {
    this.behind.push({ seq, bytes })
    this.behindBytes += bytes
    this.room.enter(bytes)
  }

  applied(seq: number): void {
    const index = this.behind.findIndex((batch) => batch.seq > seq)
    for (const { bytes } of this.behind.splice(0, index < 0 ? this.behind.length : index)) {
      this.behindBytes -= bytes
      this.room.leave(bytes)
    }
  }
}
