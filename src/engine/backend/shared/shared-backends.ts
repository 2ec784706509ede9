import { InternalError } from '../../../errors/errors.ts'
import type { Admission } from '../../admission/admission.ts'
import type { Instance } from '../../storage/instance.ts'
import type { SharedCancels } from '../../storage/postgres/cancels.ts'
import type { Postgres } from '../../storage/postgres/client.ts'
import type { PluginChanges } from '../../storage/postgres/plugin-changes.ts'
import type { SharedStores } from '../../storage/shared-stores.ts'
import { mostOpenProjects, type Stores } from '../../storage/stores.ts'
import type { BackendHome, Backends } from '../backend.ts'
import { LocalBackend, type LocalHome } from '../local-backend.ts'
import { SharedIngestion } from './shared-ingestion.ts'
import { SharedNode } from './shared-node.ts'

interface Parts {
  readonly stores: SharedStores
  readonly postgres: Postgres
  readonly plugins: PluginChanges
  readonly cancels: SharedCancels
  readonly holder: string
  readonly admission: Admission
  readonly instance: Pick<Instance, 'running' | 'memoryLimit'>
  report(error: unknown): void
  /** Opens projects that nobody applies. */
  adopt(projects: readonly number[]): void
}

/** A project that other servers have open, too. */
class SharedBackend extends LocalBackend<SharedIngestion> {
  /** Also what others have acknowledged. */
  protected override async acknowledged(): Promise<number> {
    await this.pipeline.look()
    return this.position
  }

  look(): Promise<void> {
    return this.pipeline.look()
  }
}

/** Projects that this server shares with others. */
export function sharedBackends({ stores, admission, instance, ...parts }: Parts): Backends {
  const node = new SharedNode({ ...parts, partitions: stores.partitions })
  const home: Pick<LocalHome, 'stores' | 'admission'> = { stores: withoutFiles(stores), admission }
  const open = async (given: BackendHome): Promise<SharedBackend> => {
    const storage = await stores.open(given.settings().id)
    const ingestion = new SharedIngestion(given, storage, stores, node)
    node.enter(ingestion)
    return new SharedBackend({ ...given, ...home }, storage, [], ingestion)
  }
  return {
    ready: async () => node.begin(),
    open,
    drop: (id) => stores.drop(id),
    replace: () => Promise.reject(new InternalError('A store on a server has no copy')),
    mostOpen: mostOpenProjects(instance.memoryLimit),
    positionOf: () => null,
    recentEnds: 0, // this process would have ended with it
    isOutOfMemory: () => false,
    isLost: () => false,
    engineBytes: async () => null,
    load: () => ({ waiting: admission.waiting, running: admission.running }),
    get stillOpen() {
      return instance.running > 0 ? [`${instance.running} statements`] : []
    },
    async close() {
      await node.close()
      await stores.close()
    },
  }
}

/** What a backend needs of stores beside its own. */
const withoutFiles = ({ parquetOf, fileOf, drop }: SharedStores): Stores => ({
  open: () => Promise.reject(new InternalError('Projects of several servers are opened by themselves')),
  makeDurable: async () => undefined,
  settle: async () => undefined,
  replace: () => Promise.reject(new InternalError('A store on a server has no copy')),
  drop,
  isDamage: () => false,
  parquetOf,
  fileOf,
  close: async () => undefined,
})
