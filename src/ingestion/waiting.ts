import { type Deferred, deferred } from '../lib/deferred.ts'
import type { Content, Work } from './work.ts'

/** A batch that is in the log and not in the store. */
export interface Waiting {
  readonly kind: Content['kind']
  firstSeq: number
  count: number
  readonly bytes: number
  /** Let go once it is worked out: the log has it, should it be needed again. */
  work: Work | null
  /** Place in `work` up to which it is worked out. */
  next: number
  duplicates: ReadonlySet<number>
  readonly decided: Deferred<ReadonlySet<number>>
  readonly applied: Deferred<readonly string[]>
  uuids: readonly string[]
}

export const waitingFor = (work: Work): Waiting => ({
  kind: work.content.kind,
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

export const lastSeqOf = ({ firstSeq, count }: Waiting): number => firstSeq + count - 1
