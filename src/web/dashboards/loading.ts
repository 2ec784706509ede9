// Tiles load by themselves, a few at a time: a browser has six connections to a server, and other requests need some of them. Those that somebody looks
// at come first; when nothing of them is left, the others follow one by one, so that paper and pictures of the whole page have all of them.

const atOnce = 3
const idleMs = 500

/** How far a tile is that has no answer yet: waiting to be looked at, for its turn, or for its answer. */
export type Progress = 'unseen' | 'waiting' | 'computing'

export function createQueue() {
  const waiting: (() => void)[] = []
  let running = 0
  /** Tiles that nobody looks at yet, in the order of the page. */
  const unseen = new Set<() => void>()
  const begin = () => {
    while (running < atOnce && waiting.length > 0) waiting.shift()!()
    if (running > 0 || waiting.length > 0) return
    const [next] = unseen
    if (next) later(next)
  }
  const later = (next: () => void) => {
    unseen.delete(next)
    next()
  }
  return {
    /** Calls back once it is this tile's turn although nobody looks at it. Ends with what it returns. */
    whenIdle(next: () => void): () => void {
      unseen.add(next)
      // After those in view have come in.
      const timer = setTimeout(begin, idleMs)
      return () => {
        clearTimeout(timer)
        unseen.delete(next)
      }
    },
    /** All at once, for paper. */
    wakeAll(): void {
      for (const next of [...unseen]) later(next)
    },
    /** Something that was asked for is not there yet. */
    isBusy: (): boolean => running > 0 || waiting.length > 0,
    run<T>(work: () => Promise<T>, signal: AbortSignal, onStart: () => void = () => {}): Promise<T> {
      return new Promise((resolve, reject) => {
        const start = () => {
          running++
          onStart()
          work()
            .then(resolve, reject)
            .finally(() => {
              running--
              begin()
            })
        }
        signal.addEventListener('abort', () => {
          const at = waiting.indexOf(start)
          if (at < 0) return
          waiting.splice(at, 1)
          reject(signal.reason)
        })
        waiting.push(start)
        begin()
      })
    },
  }
}
export type Queue = ReturnType<typeof createQueue>
