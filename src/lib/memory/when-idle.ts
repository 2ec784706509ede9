/** Does something once nothing was used for a while, and again after it was used again. */
export class WhenIdle {
  private readonly afterMs: number
  private readonly isBusy: () => boolean
  private readonly work: () => void
  private usedAt = 0
  private timer: NodeJS.Timeout | null = null

  constructor(afterMs: number, isBusy: () => boolean, work: () => void) {
    this.afterMs = afterMs
    this.isBusy = isBusy
    this.work = work
  }

  used(): void {
    this.usedAt = performance.now()
    if (this.timer === null) this.wait(this.afterMs)
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }

  private wait(ms: number): void {
    this.timer = setTimeout(() => this.look(), ms).unref()
  }

  private look(): void {
    const rest = this.isBusy() ? this.afterMs : this.usedAt + this.afterMs - performance.now()
    if (rest > 0) this.wait(rest)
    else {
      this.timer = null
      this.work()
    }
  }
}
