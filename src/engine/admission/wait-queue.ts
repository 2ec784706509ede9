/** The waiting statements of one owner. */
interface Queue<W> {
  readonly restartable: Set<W>
  readonly kept: Set<W>
}

interface Waits<O> {
  readonly claim: O
  readonly canRestart: boolean
}

/** Statements that wait for a slot. Those of one query have the same claim, so only the first of them is considered. */
export const createWaitQueue = <O, W extends Waits<O>>() => {
  const queues = new Map<O, Queue<W>>()
  let size = 0

  const queueOf = ({ claim }: W): Queue<W> => {
    const known = queues.get(claim)
    if (known) return known
    const queue: Queue<W> = { restartable: new Set(), kept: new Set() }
    queues.set(claim, queue)
    return queue
  }
  const listOf = ({ restartable, kept }: Queue<W>, { canRestart }: W) => (canRestart ? restartable : kept)

  return {
    add(waiter: W): void {
      listOf(queueOf(waiter), waiter).add(waiter)
      size++
    },
    delete(waiter: W): void {
      const queue = queues.get(waiter.claim)
      if (!queue || !listOf(queue, waiter).delete(waiter)) return
      size--
      if (queue.restartable.size + queue.kept.size === 0) queues.delete(waiter.claim)
    },
    /** The first waiting statement of each owner, separately for those that can restart and those that cannot. */
    *firsts(): Generator<W> {
      for (const { restartable, kept } of queues.values())
        for (const list of [restartable, kept]) {
          const [first] = list
          if (first) yield first
        }
    },
    get size(): number {
      return size
    },
  }
}
