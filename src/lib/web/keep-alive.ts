const longestTimer = 2 ** 31 - 1

/**
 * Keeps the event loop alive while a caller waits for background work. The background work itself uses timers that do not keep it alive, so that a
 * program without waiting callers can exit.
 */
export class KeepAlive {
  private waiting = 0
  private timer: NodeJS.Timeout | null = null

  async during<T>(work: Promise<T>): Promise<T> {
    this.waiting++
    this.timer ??= setInterval(() => undefined, longestTimer)
    try {
      return await work
    } finally {
      this.waiting--
      if (this.waiting === 0 && this.timer) {
        clearInterval(this.timer)
        this.timer = null
      }
    }
  }
}
