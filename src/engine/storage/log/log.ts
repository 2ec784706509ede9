import type { Texts } from '../../../lib/text/texts.ts'

export type LogKind = 'event' | 'persons' | 'groups' | 'property_types' | 'records' | 'person_changes' | 'removals'

/** One accepted request: what the client sent, before it is processed. */
export interface LogBatch {
  readonly kind: LogKind
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  /** As the client wrote it. */
  readonly sentAt: string | null
  readonly historical: boolean
  readonly ip: string | null
  /** The import that the events are of. */
  readonly importId?: string
  readonly uuids: readonly string[]
  /** JSON texts, one for each uuid. */
  readonly payloads: Texts
}

/** Record i has the number `firstSeq + i`. */
export interface StoredBatch extends LogBatch {
  readonly firstSeq: number
}

/** A project's source of truth: it holds all acknowledged events, and the store can be rebuilt from it. */
export interface Log {
  /**
   * Resolves when the batch is durable: all or nothing. Rejects with `disk-full` or `log-failed`; then nothing of the batch is kept, and
   * the call may be retried. Batches are numbered in the order of the calls.
   */
  append(batch: LogBatch): Promise<{ firstSeq: number }>
  /** Durable batches from the record `fromSeq` on, up to the last one at the time when the reader gets there. */
  read(fromSeq: number): AsyncIterable<StoredBatch>
  /** The sequence number of the last durable record, 0 if there is none. */
  readonly lastSeq: number
  /** The sequence number of the oldest record that is still kept, `lastSeq + 1` if there is none. */
  readonly firstSeq: number
  /** Records up to `seq` are applied: the log may free their memory, and remove them after the retention. */
  markApplied(seq: number): void
  /** The files of the log with the bytes that are durable in them, oldest first. None: the log is in memory. */
  files(): readonly LogFile[]
  /** Waits for pending appends, and refuses new ones. */
  close(): Promise<void>
}

/** A file of the log, up to the last durable record in it. */
export interface LogFile {
  readonly name: string
  readonly firstSeq: number
  readonly bytes: number
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

/** The index of the first batch that reaches `seq`, in sorted batches; their number if none does. */
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
