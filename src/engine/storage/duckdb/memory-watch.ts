import { threadHeapBytes } from '../../../lib/memory/thread-heaps.ts'

// Memory that the engine does not count: hash tables inside some aggregates, and intermediate values of expressions. While statements run, the
// process's memory is measured. A statement is stopped if memory grows far beyond what the engine reports.

export interface MemoryWatch {
  /** Calls `stop` if memory grows too much from now on; the returned function ends the watch. */
  follow(stop: () => void): () => void
}

interface Followed {
  readonly stop: () => void
  /** The number of measurements: short statements are not measured. */
  looks: number
  start: Sample | null
  isStopped: boolean
}
interface Sample {
  /** Bytes of the process outside of JavaScript. */
  readonly native: number
  /** Bytes that the engine counts. */
  readonly counted: number
}

export interface WatchOptions {
  readonly most: number
  readonly native?: () => number
  /** Asks the engine. */
  readonly counted: () => Promise<number>
  readonly everyMs?: number
}

const nativeBytes = (): number => {
  const { rss, heapTotal, external } = process.memoryUsage()
  return rss - heapTotal - external - threadHeapBytes()
}

export function watchMemory({ most, native = nativeBytes, counted, everyMs = 50 }: WatchOptions): MemoryWatch {
  const followed = new Set<Followed>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false

  const look = async () => {
    // The engine is asked only if there is a reason: a new statement, or suspicious growth.
    const bytes = native()
    for (const one of followed) one.looks++
    const isNew = [...followed].some(({ start, looks }) => start === null && looks > 1)
    const mayBeTooMuch = [...followed].some(({ start, isStopped }) => start !== null && !isStopped && bytes - start.native > most)
    if (!isNew && !mayBeTooMuch) return
    const sample: Sample = { native: bytes, counted: await counted() }
    for (const one of followed) one.start ??= sample
    const grown = ({ start }: Followed) => (start ? sample.native - start.native - Math.max(0, sample.counted - start.counted) : 0)
    // One at a time: afterwards there may be enough memory for the others.
    if ([...followed].some(({ isStopped }) => isStopped)) return
    const [largest] = [...followed].sort((a, b) => grown(b) - grown(a))
    if (!largest || grown(largest) <= most) return
    largest.isStopped = true
    largest.stop()
  }

  const tick = () => {
    if (isLooking) return
    isLooking = true
    look()
      .catch(() => undefined) // closing
      .finally(() => {
        isLooking = false
      })
  }

  return {
    follow(stop) {
      const one: Followed = { stop, looks: 0, start: null, isStopped: false }
      followed.add(one)
      timer ??= setInterval(tick, everyMs).unref()
      return () => {
        followed.delete(one)
        if (followed.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
