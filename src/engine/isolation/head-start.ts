import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import { keptAlive } from '../../lib/flow/kept-alive.ts'

// After an engine has ended, short queries run first. Otherwise a query that ends its engine during planning would keep all others from an answer.

/** The longest head start, from the start of the next engine. */
const longestMs = 1_000
/** The largest short query: its text, plus one for each name and value. */
const shortSize = 5_000

/** True if a value is larger than a size. Stops as soon as the result is certain. */
function isLarger(value: unknown, most: number): boolean {
  let left = most
  const look = (one: unknown): void => {
    if (left < 0) return
    left -= typeof one === 'string' ? one.length : 1
    if (typeof one !== 'object' || one === null) return
    for (const key in one) {
      look((one as Record<string, unknown>)[key])
      if (left < 0) return
    }
  }
  look(value)
  return left < 0
}

export class HeadStart {
  private readonly short = new Set<object>()
  private over: Deferred<void> | null = null
  private timer: NodeJS.Timeout | undefined

  static isShort(query: unknown): boolean {
    return !isLarger(query, shortSize)
  }

  /** The engine ended while it answered this short query. */
  lost(query: object): void {
    this.short.add(query)
    this.over ??= deferred()
  }

  /** The next engine has started. */
  begin(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.end(), longestMs)
    this.timer.unref()
  }

  /** The query has its answer, or will not be retried. */
  done(query: object): void {
    if (this.short.delete(query) && this.short.size === 0) this.end()
  }

  /** Resolves when long queries may run. */
  async waited(): Promise<void> {
    if (this.over) await keptAlive(this.over.promise)
  }

  private end(): void {
    this.short.clear()
    this.over?.resolve()
    this.over = null
  }
}
