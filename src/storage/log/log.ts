import type { Texts } from '../../lib/texts.ts'

export type LogKind = 'event' | 'persons' | 'groups' | 'property_types' | 'records'

/** One accepted request: what the client sent, before anything was decided about it. */
export interface LogBatch {
  readonly kind: LogKind
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  /** As the client wrote it. */
  readonly sentAt: string | null
  readonly historical: boolean
  readonly ip: string | null
  readonly uuids: readonly string[]
  /** JSON texts, one for each uuid. */
  readonly payloads: Texts
}

/** Record i has the number `firstSeq + i`. */
export interface StoredBatch extends LogBatch {
  readonly firstSeq: number
}

/** A project's source of truth: it holds what is acknowledged, and the store can be rebuilt from it. */
export interface Log {
  /**
   * Resolves when the batch is durable, whole or not at all. Rejects with `disk-full` or `log-failed`, then nothing of the batch is kept and
   * the same call may succeed later. Batches are numbered in the order of the calls.
   */
  append(batch: LogBatch): Promise<{ firstSeq: number }>
  /** Durable batches from the record `fromSeq` on, up to the last one at the time the reader gets there. */
  read(fromSeq: number): AsyncIterable<StoredBatch>
  /** The sequence number of the last durable record, 0 without one. */
  readonly lastSeq: number
  /** The sequence number of the oldest record that is still kept, `lastSeq + 1` without one. */
  readonly firstSeq: number
  /** Records up to `seq` are in the store: the log need not keep them in memory, and may forget them when their time is over. */
  markApplied(seq: number): void
  /** Waits for what was appended. Refuses what comes later. */
  close(): Promise<void>
}

/** A range of the log that was durable and is unreadable. Records `fromSeq` to `toSeq` are lost. */
export interface LogDamage {
  readonly file: string
  readonly offset: number
  readonly fromSeq: number
  /** Null: to the end of the file's content, which is unknown. */
  readonly toSeq: number | null
}

/** The rest of a batch from the record `fromSeq` on. */
export const from = (batch: StoredBatch, fromSeq: number): StoredBatch => {
  const skip = fromSeq - batch.firstSeq
  if (skip <= 0) return batch
  return { ...batch, firstSeq: fromSeq, uuids: batch.uuids.slice(skip), payloads: batch.payloads.from(skip) }
}

export const lastOf = (batch: StoredBatch): number => batch.firstSeq + batch.uuids.length - 1

/** The index of the first batch that reaches `seq`, in batches in order; their count when none does. */
export const indexOfSeq = (batches: readonly StoredBatch[], seq: number): number => {
  let low = 0
  let high = batches.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lastOf(batches[middle]!) < seq) low = middle + 1
    else high = middle
  }
  return low
}
