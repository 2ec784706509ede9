import { WaymarkError } from '../../errors/errors.ts'

/**
 * The time limit of one query. Waiting in the queue counts, the time of a slow reader does not. `signal` aborts at the limit, with an error that tells
 * how long the query waited and ran.
 */
export class TimeLimit {
  readonly signal: AbortSignal
  private readonly over = new AbortController()
  private timer: NodeJS.Timeout | undefined
  private elapsedMs = 0
  private waitedMs = 0
  /** Null while the reader processes rows. */
  private since: number | null = null
  private waiters = 0
  private workers = 0

  /** `seconds`: infinite for no limit. */
  constructor(private readonly seconds: number) {
    this.signal = this.over.signal
    this.resume()
  }

  resume(): void {
    if (this.since !== null) return
    this.since = performance.now()
    if (!Number.isFinite(this.seconds)) return
    this.timer = setTimeout(() => this.expire(), Math.max(0, this.seconds * 1000 - this.elapsedMs))
    this.timer.unref()
  }

  pause(): void {
    this.count()
    this.since = null
    clearTimeout(this.timer)
  }

  /** Starts a wait. Call the returned function to end it. */
  waiting(): () => void {
    return this.change('waiters')
  }

  /** The same for work. While any work runs, no time counts as waiting. */
  working(): () => void {
    return this.change('workers')
  }

  private change(which: 'waiters' | 'workers'): () => void {
    this.count()
    this[which]++
    return () => {
      this.count()
      this[which]--
    }
  }

  private count(): void {
    if (this.since === null) return
    const now = performance.now()
    const ms = now - this.since
    this.since = now
    this.elapsedMs += ms
    if (this.waiters > 0 && this.workers === 0) this.waitedMs += ms
  }

  /** Aborts if the time is over: for synchronous work, which blocks the timer. */
  check(): void {
    this.count()
    if (this.elapsedMs >= this.seconds * 1000) this.expire()
  }

  private expire(): void {
    this.count()
    const waited = Math.min(this.seconds, Math.round(this.waitedMs / 1000))
    this.over.abort(new WaymarkError('query-timeout', { seconds: this.seconds, waited, ran: this.seconds - waited }))
  }
}
