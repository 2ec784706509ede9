import { setImmediate, setTimeout } from 'node:timers/promises'
import { InternalError } from '../../errors/errors.ts'
import { createConcurrencyLimit } from '../../lib/flow/concurrency-limit.ts'

// The steps from a tree to a statement. Planning yields the main thread between them, and one long statement is planned at a time, so a small query of
// another caller waits for one step at most.

export const sliceMs = 5
/** Other work gets the thread for this multiple of each slice: a small query needs about thirty turns of the event loop. */
const shareOfOthers = 1
const longestPauseMs = 50

/** Yields the thread after a slice of work. `isAlone`: no other work is in progress. */
export const letOthersRun = (heldMs: number, isAlone: () => boolean): Promise<unknown> =>
  isAlone() ? setImmediate() : setTimeout(Math.min(longestPauseMs, heldMs * shareOfOthers))

const longPlans = createConcurrencyLimit({
  atOnce: 1,
  waiting: Number.POSITIVE_INFINITY,
  refusal: () => new InternalError('Any number of statements may wait for their planning'),
})

/** A plan counts as long after this time. */
const longPlanMs = 100

/** The query is planned in another thread, from its start. */
export class PlannedElsewhere extends Error {}

/** What planning needs of the project that it plans for. */
export interface PlanningTurns {
  readonly settings: { readonly id: number }
  isAlone(): boolean
}

/** Projects take turns, so a project with many long plans delays only itself. An error of `afterSlice` ends the planning. */
export async function planInSlices<T>(
  steps: Generator<void, T>,
  { settings, isAlone }: PlanningTurns,
  afterSlice: () => void = () => undefined,
): Promise<T> {
  let spentMs = 0
  /** The result, or null if it takes longer than `mostMs`. */
  const within = async (mostMs: number): Promise<{ readonly value: T } | null> => {
    for (;;) {
      const begin = performance.now()
      let step = steps.next()
      while (!step.done && performance.now() - begin < sliceMs) step = steps.next()
      const heldMs = performance.now() - begin
      afterSlice()
      if (step.done) return step
      spentMs += heldMs
      if (spentMs >= mostMs) return null
      await letOthersRun(heldMs, isAlone)
    }
  }
  const found = (await within(longPlanMs)) ?? (await longPlans(String(settings.id), () => within(Number.POSITIVE_INFINITY)))
  return found!.value
}
