// The order in which things happen. Calls to files and to the store are not made at once: each waits here until the schedule picks it, one at a time, in an order that a
// seed decides. Time moves only when nothing else is left to do, and then to the next timer.

interface Call {
  readonly label: string
  run(): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface Timer {
  at: number
  /** Timers of one instant go off in the order in which they were set. */
  readonly order: number
  readonly everyMs: number | null
  fire(): void
}

/** Of the process itself, before they are replaced. */
const real = { setImmediate: globalThis.setImmediate, setTimeout: globalThis.setTimeout, now: performance.now.bind(performance) }

const immediate = () => new Promise<void>((resolve) => void real.setImmediate(resolve))
/** A file that is read past the schedule, as a module that is loaded: how long it takes depends on the machine. */
const isReading = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))

/** Everything that can go on without a call or a timer has gone on. */
async function settled(): Promise<void> {
  const began = real.now()
  do await immediate()
  while (isReading() && real.now() - began < unknownMs)
}

/** What should end did not. */
export class Stuck extends Error {}

/** Virtual time within which every step must end. */
const longestMs = 20 * 60_000
/** Real time to wait for what the schedule knows nothing of, as a module that is loaded. */
const unknownMs = 5_000
/** The machine was started some time before. */
const bootedMs = 1e7
/** How long a call takes. */
const callMs = 0.1

export class Schedule {
  private calls: Call[] = []
  private timers = new Set<Timer>()
  private made = 0
  private monotonic = 0
  private offset = 0
  /** Calls that were made. */
  steps = 0
  draw: () => number = () => 0
  trace: (line: string) => void = () => undefined

  /** Milliseconds since the start; clock jumps do not change it. */
  now(): number {
    return this.monotonic
  }

  /** Milliseconds since 1970, as the machine's clock shows it. */
  wallClock(): number {
    return Math.floor(this.monotonic + this.offset)
  }

  /** A run begins, at a time in milliseconds since 1970. */
  begin(ms: number): void {
    this.drop()
    this.monotonic = bootedMs
    this.offset = ms - bootedMs
    this.steps = 0
    this.made = 0
  }

  jump(ms: number): void {
    this.offset += ms
  }

  call<T>(label: string, run: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.calls.push({ label, run, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  setTimer(ms: number, fire: () => void, everyMs: number | null = null): Timer {
    const timer = { at: this.monotonic + Math.max(ms || 0, 1), order: this.made++, everyMs, fire }
    this.timers.add(timer)
    return timer
  }

  clearTimer(timer: Timer): void {
    this.timers.delete(timer)
  }

  /** Lets everything go on that needs no call and no time. */
  settle(): Promise<void> {
    return settled()
  }

  /** What was asked for never happens: the process is gone. */
  drop(): void {
    this.calls = []
    this.timers.clear()
  }

  /** Goes on until the promise is settled. `most`: after so many calls it is left as it is. */
  async until<T>(promise: Promise<T>, most = Number.POSITIVE_INFINITY): Promise<{ readonly value: T } | null> {
    let isOver = false
    const over = promise.finally(() => {
      isOver = true
    })
    over.catch(() => undefined)
    const last = this.monotonic + longestMs
    const end = this.steps + most
    let waitedSince: number | null = null
    for (;;) {
      await settled()
      if (isOver) return { value: await over }
      if (this.steps >= end) return null
      if (await this.step()) {
        waitedSince = null
        if (this.monotonic > last) throw new Stuck(`It did not end within ${longestMs / 60_000} minutes of virtual time`)
        continue
      }
      waitedSince ??= real.now()
      if (real.now() - waitedSince > unknownMs) throw new Stuck('It waits for something that never comes')
      await new Promise((resolve) => void real.setTimeout(resolve, 1))
    }
  }

  /** Lets time pass, with all that is due meanwhile. */
  async pass(ms: number): Promise<void> {
    const end = this.monotonic + ms
    for (;;) {
      await settled()
      const next = this.nextTimer()
      if (this.calls.length === 0 && (!next || next.at > end)) break
      await this.step()
    }
    this.monotonic = Math.max(this.monotonic, end)
  }

  private async step(): Promise<boolean> {
    if (this.calls.length > 0) {
      // Mostly in turn: a disk is no lottery either.
      const index = this.calls.length === 1 || this.draw() < 0.6 ? 0 : Math.floor(this.draw() * this.calls.length)
      const [call] = this.calls.splice(index, 1)
      await this.make(call!)
      return true
    }
    const timer = this.nextTimer()
    if (!timer) return false
    this.monotonic = Math.max(this.monotonic, timer.at)
    if (timer.everyMs === null) this.timers.delete(timer)
    else timer.at = this.monotonic + timer.everyMs
    timer.fire()
    return true
  }

  private async make({ label, run, resolve, reject }: Call): Promise<void> {
    this.steps++
    this.monotonic += callMs
    try {
      const value = await run()
      this.trace(label)
      resolve(value)
    } catch (error) {
      this.trace(`${label} failed: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`)
      reject(error)
    }
  }

  private nextTimer(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.timers) if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    return next
  }
}
