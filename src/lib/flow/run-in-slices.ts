import { setImmediate } from 'node:timers/promises'

/** Runs a generator, and lets other work use the main thread whenever it has run for `sliceMs`. */
export async function runInSlices<T>(steps: Generator<void, T>, sliceMs: number): Promise<T> {
  for (let begin = performance.now(); ; ) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - begin < sliceMs) continue
    await setImmediate()
    begin = performance.now()
  }
}
