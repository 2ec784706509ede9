import { WaymarkError } from '../../../errors/errors.ts'
import { from, indexOfSeq, type Log, type LogBatch, lastOf, type StoredBatch } from './log.ts'

/** The log of a `:memory:` project: its store cannot fail, so the log keeps only records that are not applied yet. */
export class MemoryLog implements Log {
  lastSeq = 0
  private batches: StoredBatch[] = []
  private isClosed = false

  get firstSeq(): number {
    return this.batches[0]?.firstSeq ?? this.lastSeq + 1
  }

  async append(batch: LogBatch): Promise<{ firstSeq: number }> {
    if (this.isClosed) throw new WaymarkError('closed', {})
    const firstSeq = this.lastSeq + 1
    this.batches.push({ ...batch, firstSeq })
    this.lastSeq += batch.uuids.length
    return { firstSeq }
  }

  async *read(fromSeq: number): AsyncGenerator<StoredBatch> {
    let next = fromSeq
    while (next <= this.lastSeq) {
      const batch = this.batches[indexOfSeq(this.batches, next)]
      if (!batch) return
      yield from(batch, next)
      next = lastOf(batch) + 1
    }
  }

  markApplied(seq: number): void {
    this.batches.splice(0, indexOfSeq(this.batches, seq + 1))
  }

  files(): readonly [] {
    return []
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}
