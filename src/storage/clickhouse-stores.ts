import { rm } from 'node:fs/promises'
import type { ClickHouseClient } from './clickhouse/client.ts'
import { clickHouseEngine, type EngineOptions } from './clickhouse/engine.ts'
import { metaInsert, metaRow, readAppliedSeq } from './clickhouse/journal.ts'
import { type ProjectStore, projectStore, removeRows, rowVersion } from './clickhouse/project-store.ts'
import { createClickHouseTables } from './clickhouse/schema.ts'
import { MemoryLog } from './log/memory-log.ts'
import { readPosition } from './log/position.ts'
import { filesOf, findProject, openLog, type ProjectStorage, recoveryOf, type StorageOptions } from './project-storage.ts'
import type { Stores } from './stores.ts'

export interface ClickHouseStoresOptions {
  /** Where the logs are; `:memory:` for none that stays. */
  readonly dataDir: string
  readonly storage: StorageOptions
  readonly engine: EngineOptions
  /** Whether the client is closed with the stores. */
  readonly ownsClient: boolean
}

/** The rows of all projects on one server, their logs in the data directory. */
export async function openClickHouseStores(
  client: ClickHouseClient,
  { dataDir, storage, engine, ownsClient }: ClickHouseStoresOptions,
): Promise<Stores> {
  for (const query of createClickHouseTables) await client.command({ query })
  const isInMemory = dataDir === ':memory:'

  const inMemory = async (store: ProjectStore): Promise<ProjectStorage> => {
    if ((await readAppliedSeq(store)) !== null) await removeRows(store) // of another process, whose log is gone
    const log = new MemoryLog()
    const close = () => log.close()
    return { engine: clickHouseEngine(store, engine), log, cacheFolder: null, reports: [], recovery: null, close, abandon: close }
  }

  return {
    async open(id, { hadEvents }) {
      const store = projectStore(client, id)
      if (isInMemory) return inMemory(store)
      const files = filesOf(dataDir, id)
      const findStore = async () => {
        const appliedSeq = await readAppliedSeq(store)
        return appliedSeq === null ? ({ state: 'missing' } as const) : ({ state: 'sound', appliedSeq } as const)
      }
      const look = { position: readPosition(files.position).seq, hadEvents, isWholeLog: false, findStore }
      const { found, plan } = await findProject(files, look)
      const { log, reports, fromSeq } = await openLog(files, { found, plan }, storage, {
        begin: async () => undefined, // rows come into tables that are there
        skipTo: async (seq) => store.run(metaInsert, metaRow(id, 'applied_seq', String(seq), rowVersion(await store.nextVersion(), 'put'))),
        makeDurable: async () => undefined, // the server's to do
      })
      const recovery = recoveryOf(found, plan, { keptAs: null, fromSeq, toSeq: log.lastSeq })
      const close = () => log.close()
      return { engine: clickHouseEngine(store, engine), log, cacheFolder: files.folder, reports, recovery, close, abandon: close }
    },
    async drop(id) {
      await removeRows(projectStore(client, id))
      if (!isInMemory) await rm(filesOf(dataDir, id).folder, { recursive: true, force: true })
    },
    isDamage: () => false,
    close: async () => {
      if (ownsClient) await client.close()
    },
  }
}
