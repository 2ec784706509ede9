/** Looks again after this time at the latest: the clock may jump, and other processes change the tables too. */
const longestWaitMs = 10_000

export interface Loop {
  /** Looks for work at once. */
  wake(): void
  close(): void
}

/** Ticks when something is due: `tick` returns the time of the next work that is known. The timer does not keep the process alive. */
export function runLoop(tick: () => Promise<number>, clock: () => Date, report: (error: unknown) => void): Loop {
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const after = (ms: number) => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(look, ms)
    timer.unref()
  }
  const look = () => {
    tick().then(
      (next) => after(Math.min(longestWaitMs, Math.max(0, next - clock().getTime()))),
      (error: unknown) => {
        report(error)
        after(longestWaitMs)
      },
    )
  }
  after(0)
  return {
    wake: () => after(0),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
