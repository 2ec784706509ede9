import { connectToClickHouse } from '../clickhouse/client.ts'
import { inspectStore } from '../clickhouse/inspect-store.ts'
import { projectStore } from '../clickhouse/project-store.ts'
import { mustNotBeOnClickHouse, noProject, ownerOf } from '../clickhouse-stores.ts'
import type { EngineChoice } from '../open-stores.ts'
import type { StoreFindings } from './store-findings.ts'

export interface ServerInspector {
  /** The address of the stores, without the password. */
  readonly address: string
  inspect(project: number): Promise<StoreFindings>
  close(): Promise<void>
}

/** Inspects a directory's data on a server. Changes nothing. */
export async function openServerInspector(dataDir: string, engine: EngineChoice | undefined): Promise<ServerInspector | null> {
  if (!engine) {
    await mustNotBeOnClickHouse(dataDir)
    return null
  }
  const { clickhouse } = engine
  const client = 'client' in clickhouse ? clickhouse.client : await connectToClickHouse(clickhouse, false)
  const close = async () => void ('client' in clickhouse || (await client.close()))
  try {
    const store = projectStore(client, noProject)
    const isEmpty = (await store.rows("SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'meta'")).length === 0
    if (!isEmpty) await ownerOf(store, dataDir)
    return {
      address: 'url' in clickhouse ? `${new URL(clickhouse.url).host}, database ${clickhouse.database ?? 'waymark'}` : 'its client',
      inspect: async (project) => (isEmpty ? { state: 'missing' } : inspectStore(projectStore(client, project))),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
