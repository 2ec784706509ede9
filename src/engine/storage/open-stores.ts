import { type ClickHouseClient, type ClickHouseServer, connectToClickHouse, type Settings } from './clickhouse/client.ts'
import { mustNotBeOnClickHouse, openClickHouseStores } from './clickhouse-stores.ts'
import { answerBytes, defaultMemoryLimit, listMemoryBytes, logBytes, memoryBytes } from './duckdb/budget.ts'
import { type Instance, type InstanceOptions, openInstance } from './duckdb/instance.ts'
import { clearDownloads } from './files/downloads-folder.ts'
import { logDefaults } from './log/file-log.ts'
import type { PostgresServer } from './postgres/client.ts'
import type { StorageOptions } from './project-storage.ts'
import { duckdbStores, type Stores } from './stores.ts'

/** Where events are stored and queries run. */
export interface EngineChoice {
  /** On a ClickHouse server; the log and the accounts stay in the data directory. Needs the package `@clickhouse/client`. */
  readonly clickhouse: {
    /** Settings of the server for all queries, such as `{ max_memory_usage: 8e9, max_threads: 8 }`. */
    readonly settings?: Settings
  } & (ClickHouseServer | { readonly client: ClickHouseClient })
  /**
   * Several servers share the events: their log and the accounts are in PostgreSQL, as `postgres://user:password@host:5432/database`. Needs the package `pg`.
   * Default: both are in the data directory of one server.
   */
  readonly postgres?: string | PostgresServer
}

export async function openStores(instance: Instance, engine: EngineChoice | undefined, storage: StorageOptions): Promise<Stores> {
  await clearDownloads(instance.dataDir)
  if (!engine) {
    await mustNotBeOnClickHouse(instance.dataDir)
    return duckdbStores(instance, storage)
  }
  const { clickhouse } = engine
  const client = 'client' in clickhouse ? clickhouse.client : await connectToClickHouse(clickhouse)
  const { dataDir, memoryLimit } = instance
  return openClickHouseStores(client, {
    dataDir,
    storage,
    engine: { limits: { memoryLimit, answerBytes: answerBytes(memoryLimit) }, settings: clickhouse.settings ?? {} },
    ownsClient: !('client' in clickhouse),
  })
}

export interface OpenedStores {
  readonly stores: Stores
  /** The number of query statements that may run at the same time. */
  readonly concurrency: number
  /** Running statements. */
  readonly running: number
  close(): Promise<void>
}

/** The stores of a directory whose accounts belong to another process. */
export async function openStoresAlone(
  options: Pick<InstanceOptions, 'dataDir' | 'memoryLimit' | 'listMemory' | 'threads' | 'besideDirs'>,
  engine: EngineChoice | undefined,
  storage: StorageOptions,
): Promise<OpenedStores> {
  const instance = await openInstance(options)
  try {
    const stores = await openStores(instance, engine, storage)
    return {
      stores,
      concurrency: instance.concurrency,
      get running() {
        return instance.running
      },
      async close() {
        await stores.close()
        await instance.close()
      },
    }
  } catch (error) {
    await instance.close()
    throw error
  }
}

/** Bytes of a log, beyond which applied records are removed. */
export const logBytesOf = (value: number | string | undefined): number =>
  value === undefined || value === Number.POSITIVE_INFINITY ? logDefaults.retention.maxBytes : logBytes(value)

/** Bytes for stores and their queries. */
export const memoryLimitOf = (value: number | string | undefined): number =>
  value === undefined ? defaultMemoryLimit() : memoryBytes(value)

export { serverMemory } from './duckdb/budget.ts'

/** Bytes of the lists beyond those that are usual for such stores. */
export const moreForLists = (memoryLimit: number, listMemory: number | string | undefined): number =>
  Math.max(0, listMemoryBytes(listMemory, memoryLimit) - listMemoryBytes(undefined, memoryLimit))
