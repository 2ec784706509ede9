import { setImmediate, setTimeout } from 'node:timers/promises'
import { InternalError } from '../errors/errors.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'

// The steps from a tree to a statement. Planning gives the main thread away between them, and one long statement is planned at a time: a small query of
// somebody else waits for one step at most.

export const sliceMs = 5
/** Between two slices others get the thread for as long, if there are any: a small query takes some thirty turns of the event loop. */
const shareOfOthers = 1
const longestPauseMs = 50

/** Gives the thread away after a slice of work. `isAlone`: nobody else wants it. */
export const letOthersRun = (heldMs: number, isAlone: () => boolean): Promise<unknown> =>
  isAlone() ? setImmediate() : setTimeout(Math.min(longestPauseMs, heldMs * shareOfOthers))

const longPlans = createConcurrencyLimit({
  atOnce: 1,
  waiting: Number.POSITIVE_INFINITY,
  refusal: () => new InternalError('Any number of statements may wait for their planning'),
})

/** A plan that has taken so long counts as long. */
const longPlanMs = 100

/** `group`: long plans of one group wait for each other, those of several take turns. */
export async function planInSlices<T>(steps: Generator<void, T>, group: string, isAlone: () => boolean): Promise<T> {
  let spentMs = 0
  /** The result, when it is there within so long. */
  const within = async (mostMs: number): Promise<{ readonly value: T } | null> => {
    for (;;) {
      const begin = performance.now()
      let step = steps.next()
      while (!step.done && performance.now() - begin < sliceMs) step = steps.next()
      const heldMs = performance.now() - begin
      if (step.done) return step
      spentMs += heldMs
      if (spentMs >= mostMs) return null
      await letOthersRun(heldMs, isAlone)
    }
  }
  const found = (await within(longPlanMs)) ?? (await longPlans(group, () => within(Number.POSITIVE_INFINITY)))
  return found!.value
}
