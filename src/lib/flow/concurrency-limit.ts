export interface ConcurrencyLimitOptions {
  /** The number of tasks that run at the same time. */
  readonly atOnce: number
  /** The number of tasks that may wait, in total and for one group. */
  readonly waiting: number
  readonly waitingOfGroup?: number
  /** The error for tasks beyond these limits. */
  readonly refusal: () => Error
}

/** Runs a task of a group, and returns its result. */
export type ConcurrencyLimit = <T>(group: string, work: () => Promise<T>) => Promise<T>

/** Limits how many expensive tasks run at the same time. Groups are served round-robin, so that a group with many tasks delays only itself. */
export const createConcurrencyLimit = ({
  atOnce,
  waiting: most,
  waitingOfGroup: mostOfGroup = most,
  refusal,
}: ConcurrencyLimitOptions): ConcurrencyLimit => {
  const queues = new Map<string, (() => void)[]>()
  let working = 0
  let waiting = 0

  const next = () => {
    const [first] = queues
    if (!first || working >= atOnce) return
    const [group, queue] = first
    const start = queue.shift()!
    queues.delete(group)
    if (queue.length > 0) queues.set(group, queue) // behind the others
    waiting--
    start()
  }

  return async (group, work) => {
    if (working >= atOnce) {
      const queue = queues.get(group) ?? []
      if (waiting >= most || queue.length >= mostOfGroup) throw refusal()
      waiting++
      await new Promise<void>((start) => {
        queue.push(() => {
          working++ // now, or a new caller could take the slot
          start()
        })
        queues.set(group, queue)
      })
    } else working++
    try {
      return await work()
    } finally {
      working--
      next()
    }
  }
}
