const usualMs = 10_000

/** Notes queries that wait for what was acknowledged before them. While they come, little may be ahead of them. */
export class RecentWaits {
  private latest = Number.NEGATIVE_INFINITY

  /** A caller who asked this long ago is likely to ask again. */
  constructor(private readonly recentMs = usualMs) {}

  note(): void {
    this.latest = performance.now()
  }

  get areThere(): boolean {
    return performance.now() - this.latest < this.recentMs
  }
}
