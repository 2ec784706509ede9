import { onAbort } from '../../lib/flow/on-abort.ts'
import type { Entry } from './result-cache.ts'

// Answers that are being computed: those who ask the same meanwhile wait for them. Ten people who open one dashboard cost as much as one.

/** What an answer is about, as of the moment when it was begun. */
export interface Moment {
  readonly key: string
  /** Of the log. */
  readonly position: number
  readonly kept: string
}

interface Running extends Moment {
  /** Null: it failed, or the caller has left. */
  readonly entry: Promise<Entry | null>
}

export class RunningAnswers {
  private readonly byKey = new Map<string, Running>()

  /** Others may wait for it from now on. */
  async run(moment: Moment, work: () => Promise<Entry>): Promise<Entry> {
    const working = work()
    const running: Running = { ...moment, entry: working.catch(() => null) }
    if (!this.isRunning(moment)) this.byKey.set(moment.key, running)
    try {
      return await working
    } finally {
      if (this.byKey.get(moment.key) === running) this.byKey.delete(moment.key)
    }
  }

  /** The answer to the same question about the same events, once it is there; null: none is being computed. Null in the end: it failed, or the signal aborted. */
  waitFor(moment: Moment, signal: AbortSignal): Promise<Entry | null> | null {
    if (signal.aborted || !this.isRunning(moment)) return null
    const { entry } = this.byKey.get(moment.key)!
    return new Promise((resolve) => {
      const stop = onAbort(signal, () => resolve(null))
      void entry.then((found) => {
        stop()
        resolve(found)
      })
    })
  }

  private isRunning({ key, position, kept }: Moment): boolean {
    const running = this.byKey.get(key)
    return running !== undefined && running.position === position && running.kept === kept
  }
}
