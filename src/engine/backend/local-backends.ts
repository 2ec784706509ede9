import { ThreadPool } from '../../core/folds/thread-pool.ts'
import type { Admission } from '../admission/admission.ts'
import type { Instance } from '../storage/instance.ts'
import { closedPosition } from '../storage/log/position.ts'
import { filesOf } from '../storage/project-storage.ts'
import { isMemoryShort, isStoreLost, mostOpenProjects, type Stores } from '../storage/stores.ts'
import type { Backends } from './backend.ts'
import { openLocalBackend } from './local-backend.ts'

/** Projects whose stores this process has open. */
export const localBackends = (
  stores: Stores,
  admission: Admission,
  instance: Pick<Instance, 'running' | 'threads' | 'memoryLimit' | 'isInMemory' | 'dataDir'>,
  report: (error: unknown) => void,
): Backends => {
  const threads = new ThreadPool(instance.threads, { report })
  const never = () => false // a store in memory cannot be closed and opened again
  return {
    ready: async () => undefined,
    open: (home) => openLocalBackend({ ...home, stores, admission, threads }),
    drop: (id) => stores.drop(id),
    replace: (id) => stores.replace(id),
    mostOpen: instance.isInMemory ? Number.POSITIVE_INFINITY : mostOpenProjects(instance.memoryLimit),
    positionOf: (id) => (instance.isInMemory ? 0 : closedPosition(filesOf(instance.dataDir, id).position)),
    recentEnds: 0, // this process would have ended with it
    isOutOfMemory: instance.isInMemory ? never : isMemoryShort,
    isLost: instance.isInMemory ? never : isStoreLost,
    engineBytes: async () => null,
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
