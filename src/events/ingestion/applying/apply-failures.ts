import { setTimeout } from 'node:timers/promises'
import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { BrokenInvariant } from '../../../errors/invariants.ts'
import { deferred } from '../../../lib/flow/deferred.ts'

const retryMs = [10, 50, 250, 1_000, 5_000]
/** After this many consecutive failures, waiting callers get the error. */
const patience = 3

export const closed = () => new WaymarkError('closed', {})
/** The error for callers that wait for events in the log. It names a store that cannot be reached. */
export const notWritten = (cause: unknown) =>
  (cause instanceof WaymarkError && cause.isRetryable) || cause instanceof BrokenInvariant
    ? cause
    : new InternalError('Events are in the log but cannot be written to the store', { cause })

/** Tracks failures of applying events: reports them, paces the retries, and decides when to abandon them. */
export class ApplyFailures {
  private readonly report: (error: unknown) => void
  private readonly onPersistentFailure: (cause: unknown) => void
  private readonly onAbandoned: (cause: unknown) => void
  private failures = 0
  private last: unknown = null
  private readonly closing = deferred<void>()
  isClosed = false
  /** Why the engine has ended; null: it has not. */
  brokenBy: BrokenInvariant | null = null
  /** Closed while the store accepts no writes. The log keeps what is not applied. */
  isAbandoned = false

  constructor(on: {
    /** Called with an error that the pipeline recovers from. */
    readonly report: (error: unknown) => void
    /** Called when it keeps failing: rejects callers that wait for records of others. */
    readonly hopeless: (cause: unknown) => void
    /** Called when retries have ended: also rejects callers that wait for their own records. */
    readonly givenUp: (cause: unknown) => void
  }) {
    this.report = on.report
    this.onPersistentFailure = on.hopeless
    this.onAbandoned = on.givenUp
  }

  /** The cause when applying keeps failing; null while it works. */
  get failure(): unknown {
    return this.brokenBy ?? (this.failures > patience ? this.last : null)
  }

  /** Nothing goes on: every caller gets the report. */
  broken(cause: BrokenInvariant): void {
    if (this.brokenBy) return
    this.brokenBy = cause
    this.report(cause)
    this.abandon(cause)
  }

  /** Records that attempt number `attempt` of one operation has failed. */
  failed(error: unknown, attempt = this.failures): void {
    this.report(error)
    this.last = error
    this.failures = Math.max(this.failures, attempt + 1)
    if (this.failures <= patience) return
    if (this.isClosed) this.abandon(error)
    this.onPersistentFailure(error)
  }

  succeeded(): void {
    this.failures = 0
  }

  abandon(cause: unknown): void {
    this.isAbandoned = true
    this.onAbandoned(cause)
  }

  close(): void {
    this.isClosed = true
    this.closing.resolve()
  }

  /** Waits before the next attempt. Closing ends the wait. */
  async pause(attempt = this.failures - 1): Promise<void> {
    const over = new AbortController()
    const rest = setTimeout(retryMs[Math.min(attempt, retryMs.length - 1)], undefined, { ref: false, signal: over.signal })
    await Promise.race([rest.catch(() => undefined), this.closing.promise])
    over.abort()
  }
}
