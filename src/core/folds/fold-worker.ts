import { parentPort } from 'node:worker_threads'
import { collectGarbage } from '../../lib/memory/collect-garbage.ts'
import { DamagedPages } from '../lists/pages/page.ts'
import { switchKernels, takeCalled } from '../simd/kernels.ts'
import { folds } from './folds.ts'
import { PageReader } from './page-reader.ts'
import { type FoldTask, type FromWorker, type PartResult, stopped, type ToWorker, taken } from './worker-messages.ts'

// The program of a worker thread: folds some of the persons after others, and looks between two blocks whether it should stop.

/** Of all folds: its memory is reused. */
const reader = new PageReader()

const send = (message: FromWorker, moved: ArrayBuffer[] = []) => parentPort!.postMessage(message, moved)

parentPort!.on('message', (message: ToWorker) => {
  if (message.kind === 'release') collectGarbage()
  else run(message)
})

function run({ fold, lists, params, parts, shared, kernels }: FoldTask): void {
  const results: PartResult[] = []
  switchKernels(kernels)
  takeCalled()
  try {
    for (let part = Atomics.add(shared, taken, 1); part < parts.length; part = Atomics.add(shared, taken, 1)) {
      const { from, to, selection, page } = parts[part]!
      const loop = folds.get(fold)!
      const open =
        page === undefined
          ? { lists: { ...reader.inMemory(lists, from, to, loop.over), selection }, params }
          : reader.open(lists, page, params, loop.over)
      const steps = loop.run(open.lists, open.params, from, to)
      let step = steps.next()
      while (!step.done && Atomics.load(shared, stopped) === 0) step = steps.next()
      if (!step.done) {
        send({ isStopped: true })
        return
      }
      results.push([part, step.value])
    }
    send({ results, kernels: takeCalled() }, buffersOf(results.map(([, result]) => result)))
  } catch (error) {
    send({ error, isDamage: error instanceof DamagedPages })
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
