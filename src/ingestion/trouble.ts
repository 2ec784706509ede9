import { setTimeout } from 'node:timers/promises'
import { InternalError, WaymarkError } from '../errors/errors.ts'
import { deferred } from '../lib/deferred.ts'

const retryMs = [10, 50, 250, 1_000, 5_000]
/** After so many failures in a row those who wait are told. */
const patience = 3

export const closed = () => new WaymarkError('closed', {})
/** What whoever waits for events in the log is told. A store that cannot be reached is named. */
export const notWritten = (cause: unknown) =>
  cause instanceof WaymarkError && cause.isRetryable
    ? cause
    : new InternalError('Events are in the log but cannot be written to the store', { cause })

/** What goes wrong while events are brought into the store, how long it is tried again, and when it is given up. */
export class Trouble {
  private readonly report: (error: unknown) => void
  private readonly onHopeless: (cause: unknown) => void
  private readonly onGivenUp: (cause: unknown) => void
  private failures = 0
  private last: unknown = null
  private readonly closing = deferred<void>()
  isClosed = false
  /** Closed, and the store takes nothing: the log keeps what is not in it. */
  isGivenUp = false

  constructor(on: {
    /** An error that is recovered from. */
    readonly report: (error: unknown) => void
    /** It keeps failing: who waits for others' records is told. */
    readonly hopeless: (cause: unknown) => void
    /** Nobody tries any more: who waits for its own records is told too. */
    readonly givenUp: (cause: unknown) => void
  }) {
    this.report = on.report
    this.onHopeless = on.hopeless
    this.onGivenUp = on.givenUp
  }

  /** Why events are not brought into the store, when that goes on failing; null as long as it works. */
  get failure(): unknown {
    return this.failures > patience ? this.last : null
  }

  /** Attempt `attempt` of one thing has failed. */
  failed(error: unknown, attempt = this.failures): void {
    this.report(error)
    this.last = error
    this.failures = Math.max(this.failures, attempt + 1)
    if (this.failures <= patience) return
    if (this.isClosed) this.giveUp(error)
    this.onHopeless(error)
  }

  succeeded(): void {
    this.failures = 0
  }

  giveUp(cause: unknown): void {
    this.isGivenUp = true
    this.onGivenUp(cause)
  }

  close(): void {
    this.isClosed = true
    this.closing.resolve()
  }

  /** Before another attempt. Who closes does not wait for it. */
  async pause(attempt = this.failures - 1): Promise<void> {
    const over = new AbortController()
    const rest = setTimeout(retryMs[Math.min(attempt, retryMs.length - 1)], undefined, { ref: false, signal: over.signal })
    await Promise.race([rest.catch(() => undefined), this.closing.promise])
    over.abort()
  }
}
