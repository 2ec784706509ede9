import { WaymarkError } from '../../errors/errors.ts'

/**
 * The time of one query, including its wait in the queue; time of a slow reader does not count. `signal` aborts when it is over, with an error that says what
 * became of the time.
 */
export class TimeLimit {
  readonly signal: AbortSignal
  private readonly over = new AbortController()
  private timer: NodeJS.Timeout | undefined
  private elapsedMs = 0
  private waitedMs = 0
  /** Null while the reader has it. */
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

  /** From here on something is waited for, until what is answered is called. */
  waiting(): () => void {
    return this.change('waiters')
  }

  /** The same for work. While some of it is done, nothing counts as waiting. */
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

  /** Aborts where the time is over: for work that keeps the thread, and with it the timer. */
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
