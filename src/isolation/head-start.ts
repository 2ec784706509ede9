import { type Deferred, deferred } from '../lib/deferred.ts'

// After an engine has ended, short queries go first: one that ends its engine as soon as it is planned would else keep everybody from an answer.

/** For so long at most, from the start of the next engine on. */
const longestMs = 1_000
/** Letters, digits, names and values of a query that is short. */
const shortSize = 5_000

/** Whether a value is larger than a size; it is looked at until that is certain. */
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

  /** This short query was being answered when the engine ended. */
  lost(query: object): void {
    this.short.add(query)
    this.over ??= deferred()
  }

  /** The next engine is there. */
  begin(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.end(), longestMs)
    this.timer.unref()
  }

  /** It has its answer, or will not be asked again. */
  done(query: object): void {
    if (this.short.delete(query) && this.short.size === 0) this.end()
  }

  /** Resolves when long queries may be asked. */
  async waited(): Promise<void> {
    await this.over?.promise
  }

  private end(): void {
    this.short.clear()
    this.over?.resolve()
    this.over = null
  }
}
