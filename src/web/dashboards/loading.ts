// Tiles load by themselves, a few at a time: a browser has six connections to a server, and other requests need some of them.

const atOnce = 3

export function createQueue() {
  const waiting: (() => void)[] = []
  let running = 0
  const begin = () => {
    while (running < atOnce && waiting.length > 0) waiting.shift()!()
  }
  return {
    run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      return new Promise((resolve, reject) => {
        const start = () => {
          running++
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
