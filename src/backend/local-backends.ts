import type { Admission } from '../execution/asking/admission.ts'
import { ThreadPool } from '../folds/thread-pool.ts'
import type { Stores } from '../storage/stores.ts'
import type { Backends } from './backend.ts'
import { openLocalBackend } from './local-backend.ts'

/** Projects whose stores this process has open. */
export const localBackends = (
  stores: Stores,
  admission: Admission,
  instance: { readonly running: number; readonly threads?: number },
  report: (error: unknown) => void,
): Backends => {
  const threads = new ThreadPool(instance.threads, { report })
  return {
    ready: async () => undefined,
    open: (home) => openLocalBackend({ ...home, stores, admission, threads }),
    drop: (id) => stores.drop(id),
    load: () => ({ waiting: admission.waiting, running: admission.running }),
    get stillOpen() {
      return instance.running > 0 ? [`${instance.running} statements`] : []
    },
    async close() {
      await threads.close()
      await stores.close()
    },
  }
}
