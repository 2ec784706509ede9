import { setImmediate, setTimeout } from 'node:timers/promises'
import { InternalError } from '../errors/errors.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'

// The steps from a tree to a statement. A long statement gives the main thread away between them, and one long statement is planned at a time: a small query
// of somebody else waits for one step at most.

const sliceMs = 20
/** After a step that held the thread for longer, others get it for a moment: a small query takes several turns of the event loop. */
const longStepMs = 50
const momentMs = 15

const longPlans = createConcurrencyLimit({
  atOnce: 1,
  waiting: Number.POSITIVE_INFINITY,
  refusal: () => new InternalError('Any number of statements may wait for their planning'),
})

/** `group`: those of one group wait for each other, those of several take turns. */
export async function planInSlices<T>(steps: Generator<void, T>, group: string): Promise<T> {
  let heldMs = 0
  const slice = () => {
    const begin = performance.now()
    let step = steps.next()
    while (!step.done && performance.now() - begin < sliceMs) step = steps.next()
    heldMs = performance.now() - begin
    return step
  }
  const first = slice()
  if (first.done) return first.value
  return longPlans(group, async () => {
    for (;;) {
      await (heldMs > longStepMs ? setTimeout(momentMs) : setImmediate())
      const step = slice()
      if (step.done) return step.value
    }
  })
}
