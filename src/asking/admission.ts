import PQueue from 'p-queue'
import { WaymarkError } from '../errors/errors.ts'

// Which query runs next. A query that took long before waits behind the others and never holds every place, so that a heavy dashboard does not starve
// quick look-ups. What is not known yet is taken for what its kind usually costs.

const heavyFrom = 1_000
const remembered = 5_000

export const createAdmission = (places: number) => {
  const heavy = new PQueue({ concurrency: Math.max(1, places - 1) })
  const all = new PQueue({ concurrency: places })
  const lastMs = new Map<string, number>()
  const usualMs = new Map<string, number>()

  const note = (key: string, kind: string, ms: number) => {
    lastMs.delete(key)
    lastMs.set(key, ms)
    if (lastMs.size > remembered) lastMs.delete(lastMs.keys().next().value!)
    usualMs.set(kind, 0.9 * (usualMs.get(kind) ?? ms) + 0.1 * ms)
  }

  return {
    run<T>(key: string, kind: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
      const timed = async () => {
        if (signal?.aborted) throw new WaymarkError('query-cancelled', {}, { cause: signal.reason })
        const started = performance.now()
        try {
          return await work()
        } finally {
          note(key, kind, performance.now() - started)
        }
      }
      const isHeavy = (lastMs.get(key) ?? usualMs.get(kind) ?? 0) >= heavyFrom
      if (!isHeavy) return all.add(timed, { priority: 1 })
      return heavy.add(() => all.add(timed))
    },
    get waiting(): number {
      return heavy.size + all.size
    },
  }
}
export type Admission = ReturnType<typeof createAdmission>
