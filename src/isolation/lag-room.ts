import { Room } from '../ingestion/room.ts'

/**
 * Backpressure of a log that another process follows: bytes of batches that the engine has not worked out. While the engine is not there nobody waits for
 * it.
 */
export class LagRoom implements Pick<Room, 'admit'> {
  private readonly room: Room
  private readonly isFollowed: () => boolean
  private readonly behind: { readonly seq: number; readonly bytes: number }[] = []

  constructor(limit: number, isFollowed: () => boolean) {
    this.room = new Room(limit)
    this.isFollowed = isFollowed
  }

  admit<T>(bytes: number, isHistorical: boolean, work: () => Promise<T>): Promise<T> {
    return this.isFollowed() || isHistorical ? this.room.admit(bytes, isHistorical, work) : work()
  }

  /** A batch that ends with record `seq` is in the log. */
  enter(seq: number, bytes: number): void {
    this.behind.push({ seq, bytes })
    this.room.enter(bytes)
  }

  /** Batches up to record `seq` are worked out. */
  leave(seq: number): void {
    const index = this.behind.findIndex((batch) => batch.seq > seq)
    for (const { bytes } of this.behind.splice(0, index < 0 ? this.behind.length : index)) this.room.leave(bytes)
  }
}
