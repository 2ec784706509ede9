import { parentPort } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { folds } from './folds.ts'
import type { FoldTask, FromWorker, ToWorker } from './worker-messages.ts'

// The program of a worker thread: folds some of the persons, and looks between two blocks whether it should stop.

const send = (message: FromWorker, moved: ArrayBuffer[] = []) => parentPort!.postMessage(message, moved)

parentPort!.on('message', (message: ToWorker) => {
  if (message.kind === 'release') collectGarbage()
  else run(message)
})

function run({ id, fold, lists, params, from, to, stop }: FoldTask): void {
  try {
    const steps = folds.get(fold)!.run(lists, params, from, to)
    let step = steps.next()
    while (!step.done && Atomics.load(stop, 0) === 0) step = steps.next()
    if (step.done) send({ id, result: step.value }, buffersOf(step.value))
    else send({ id, isStopped: true })
  } catch (error) {
    send({ id, error })
  }
}

/** Results are large arrays: they are handed over, not copied. */
function buffersOf(result: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>()
  const look = (value: unknown) => {
    if (ArrayBuffer.isView(value)) {
      if (value.buffer instanceof ArrayBuffer) found.add(value.buffer)
    } else if (Array.isArray(value)) {
      if (typeof value[0] === 'object') value.forEach(look)
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look)
  }
  look(result)
  return [...found]
}
