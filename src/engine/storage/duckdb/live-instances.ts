/** An object whose statements run in threads of their own. */
interface Interruptible {
  interrupt(): void
}

const live = new Set<Interruptible>()
const interruptAll = () => {
  for (const instance of live) instance.interrupt()
}

// A process that exits waits for its threads, and so for running statements: `process.exit()` took as long as the longest query.
export function interruptAtExit(instance: Interruptible): () => void {
  if (live.size === 0) process.on('exit', interruptAll)
  live.add(instance)
  return () => {
    live.delete(instance)
    if (live.size === 0) process.off('exit', interruptAll)
  }
}
