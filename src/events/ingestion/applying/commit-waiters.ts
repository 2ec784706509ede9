import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'

/** Callers that wait until a record of the log is applied. */
export class CommitWaiters {
  private waiters: { readonly seq: number; readonly deferred: Deferred<void> }[] = []
  /** The last applied record. */
  seq: number

  constructor(seq: number) {
    this.seq = seq
  }

  until(seq: number): Promise<void> {
    if (seq <= this.seq) return Promise.resolve()
    const waiter = { seq, deferred: deferred<void>() }
    this.waiters.push(waiter)
    return waiter.deferred.promise
  }

  /** Whether a caller waits for this record or an earlier one. */
  isAwaited(seq: number): boolean {
    return this.waiters.some((waiter) => waiter.seq <= seq)
  }

  reached(seq: number): void {
    this.seq = seq
    for (const waiter of this.waiters) if (waiter.seq <= seq) waiter.deferred.resolve()
    this.waiters = this.waiters.filter((waiter) => waiter.seq > seq)
  }

  reject(error: unknown): void {
    for (const { deferred } of this.waiters.splice(0)) deferred.reject(error)
  }
}
