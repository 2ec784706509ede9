import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'
import type { Content, Work } from '../work.ts'

/** A batch that is in the log and not applied. */
export interface QueuedBatch {
  readonly kind: Content['kind']
  /** Its first record; `firstSeq`: the first one that is not applied. */
  readonly startSeq: number
  firstSeq: number
  count: number
  readonly bytes: number
  /** Released once it is processed; the log has it for a retry. */
  work: Work | null
  /** Index in `work` of the next event to process. */
  next: number
  duplicates: ReadonlySet<number>
  readonly decided: Deferred<ReadonlySet<number>>
  readonly applied: Deferred<readonly string[]>
  uuids: readonly string[]
}

export const queuedBatch = (work: Work): QueuedBatch => ({
  kind: work.content.kind,
  startSeq: work.firstSeq,
  firstSeq: work.firstSeq,
  count: work.count,
  bytes: work.bytes,
  work,
  next: 0,
  duplicates: new Set(),
  decided: deferred(),
  applied: deferred(),
  uuids: [],
})

export const lastSeqOf = ({ firstSeq, count }: QueuedBatch): number => firstSeq + count - 1

/** The next records of these batches, at most so many. */
export function firstRecords(
  batches: readonly QueuedBatch[],
  most: number,
): readonly { readonly work: Work; readonly from: number; readonly to: number }[] {
  const parts = []
  let left = most
  for (const { work, next: from } of batches) {
    if (left <= 0) break
    const to = Math.min(work!.count, from + left)
    parts.push({ work: work!, from, to })
    left -= to - from
  }
  return parts
}
