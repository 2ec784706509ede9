export interface ConcurrencyLimitOptions {
  /** So many work at once. */
  readonly atOnce: number
  /** So many wait, in all and of one group. */
  readonly waiting: number
  readonly waitingOfGroup?: number
  /** What those beyond that are refused with. */
  readonly refusal: () => Error
}

/** Takes work of a group, and answers what becomes of it. */
export type ConcurrencyLimit = <T>(group: string, work: () => Promise<T>) => Promise<T>

/** Lets a few of what is costly work at once. Groups take turns, so that one which asks for much waits for itself. */
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
