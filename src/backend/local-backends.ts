import type { Admission } from '../execution/asking/admission.ts'
import type { Stores } from '../storage/stores.ts'
import type { Backends } from './backend.ts'
import { openLocalBackend } from './local-backend.ts'

/** Projects whose stores this process has open. */
export const localBackends = (stores: Stores, admission: Admission, instance: { readonly running: number }): Backends => ({
  ready: async () => undefined,
  open: (home) => openLocalBackend({ ...home, stores, admission }),
  drop: (id) => stores.drop(id),
  load: () => ({ waiting: admission.waiting, running: admission.running }),
  get stillOpen() {
    return instance.running > 0 ? [`${instance.running} statements`] : []
  },
  close: () => stores.close(),
})
