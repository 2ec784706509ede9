import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../errors/errors.ts'
import type { AttemptStore, EventWriter } from '../../events/ingestion/ports.ts'
import type { KeptFrom } from '../../language/catalog/removals.ts'
import type { FileOfRows, ParquetOfRows } from '../execution/ports.ts'
import { type ClickHouseClient, connectToClickHouse } from './clickhouse/client.ts'
import { cohortMembers } from './clickhouse/cohort-members.ts'
import { clickHouseEngine } from './clickhouse/engine.ts'
import { openEventWriter } from './clickhouse/event-writer.ts'
import { metaInsert, metaRow } from './clickhouse/journal.ts'
import { projectStore, removeRows, rowVersion } from './clickhouse/project-store.ts'
import { knowInsertsAgain } from './clickhouse/schema.ts'
import { readKeptFromOf, readWarnings, type StoredWarning } from './clickhouse/shared-facts.ts'
import { createTables } from './clickhouse/tables.ts'
import { noProject } from './clickhouse-stores.ts'
import { answerBytes } from './duckdb/budget.ts'
import { fileOfRows } from './duckdb/writing/file-of-rows.ts'
import { parquetOfRows } from './duckdb/writing/parquet-of-rows.ts'
import type { EngineChoice } from './open-stores.ts'
import { attemptRows, sharedAttempts } from './postgres/attempts.ts'
import { type Blocks, openBlocks } from './postgres/blocks.ts'
import type { Postgres } from './postgres/client.ts'
import { logRows } from './postgres/log-rows.ts'
import { type Lease, openPartitions, type Partitions } from './postgres/partitions.ts'
import { alone } from './postgres/tables.ts'
import { type SharedTransformFile, sharedTransformFile, transformedRows } from './postgres/transformed.ts'
import type { ProjectStorage } from './project-storage.ts'
import { LeaseLost, sharedJournal, type WrittenBlock } from './shared-journal.ts'
import { SharedLog } from './shared-log.ts'

/** A project in ClickHouse, with its log in PostgreSQL, as one of several servers sees it. */
export interface SharedStorage extends ProjectStorage {
  readonly log: SharedLog
  /** For the server that has the lease. */
  openWriter(
    lease: Lease,
    on: { lost(): void; takeOutcomes(seq: number): readonly (readonly [firstSeq: number, outcome: string])[] },
  ): Promise<EventWriter>
  /** The same server's note of what plugins made of events. */
  openTransformed(lease: Lease): Promise<SharedTransformFile>
  /** The same server's notes of what it applies. */
  openAttempts(lease: Lease): Promise<AttemptStore>
  /** Of events in a range of the log: how many are stored, or were removed since. */
  countStored(fromSeq: number, toSeq: number): Promise<number>
  warnings(): Promise<readonly StoredWarning[]>
  keptFrom(): Promise<KeptFrom>
}

/** Where several servers keep their projects. */
export interface SharedStores {
  readonly partitions: Partitions
  readonly blocks: Blocks
  readonly parquetOf: ParquetOfRows
  readonly fileOf: FileOfRows
  readonly client: ClickHouseClient
  open(id: number): Promise<SharedStorage>
  drop(id: number): Promise<void>
  close(): Promise<void>
}

interface Options {
  readonly postgres: Postgres
  /** Of the tables in PostgreSQL. */
  readonly clusterId: string
  readonly clickhouse: EngineChoice['clickhouse']
  /** A folder of this process. */
  readonly scratch: string
  readonly memoryLimit: number
  readonly logKeptMs: number
  noteBlock?(written: WrittenBlock): void
  /** Blocks that ClickHouse knows again; for tests. */
  readonly knownBlocks?: number
}

export async function openSharedStores(options: Options): Promise<SharedStores> {
  const { postgres, clusterId, clickhouse, scratch, memoryLimit, logKeptMs, noteBlock } = options
  const client = 'client' in clickhouse ? clickhouse.client : await connectToClickHouse(clickhouse)
  const partitions = openPartitions(postgres)
  const blocks = openBlocks(postgres)
  await prepareDatabase(client, clusterId, options.knownBlocks)
  const engineOptions = { limits: { memoryLimit, answerBytes: answerBytes(memoryLimit) }, settings: clickhouse.settings ?? {} }

  return {
    partitions,
    blocks,
    client,
    parquetOf: parquetOfRows(scratch),
    fileOf: fileOfRows,
    async open(id) {
      const store = projectStore(client, id, () => partitions.nextChange(id))
      const [state] = await partitions.look([id])
      const log = new SharedLog(logRows(postgres, id), state!, logKeptMs)
      const folder = join(scratch, 'projects', String(id))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const reader = openEventWriter(store)
      const engine = clickHouseEngine(store, engineOptions, () => log.appliedSeq)
      const membersAlone: typeof store.alone = (work) => store.alone(() => alone(postgres, `members ${id}`, work))
      const close = () => log.close()
      return {
        engine: { ...engine, members: (turns) => cohortMembers({ ...store, alone: membersAlone }, turns) },
        log,
        cacheFolder: folder,
        reports: [],
        recovery: null,
        space: null,
        alone: (work) => alone(postgres, `definitions ${id}`, work),
        async openWriter(lease, on) {
          return openEventWriter(store, sharedJournal({ store, blocks, lease, clusterId, ...(noteBlock && { noteBlock }), ...on }))
        },
        openAttempts: async (lease) => (await sharedAttempts(attemptRows(postgres, lease))).store,
        openTransformed: (lease) => sharedTransformFile(transformedRows(postgres, lease), () => new LeaseLost()),
        async countStored(fromSeq, toSeq) {
          let stored = 0
          for await (const { uuids } of reader.uuids(fromSeq, toSeq)) stored += uuids.length
          return stored
        },
        warnings: () => readWarnings(store),
        keptFrom: () => readKeptFromOf(store),
        close,
        abandon: close,
      }
    },
    async drop(id) {
      await partitions.remove(id) // its holder loses it, and writes nothing more
      await removeRows(projectStore(client, id))
      await rm(join(scratch, 'projects', String(id)), { recursive: true, force: true })
    },
    close: async () => {
      if (!('client' in clickhouse)) await client.close()
    },
  }
}

/** A database in ClickHouse belongs to the PostgreSQL whose log is applied to it. The caller makes sure that one server at a time does this. */
export async function prepareDatabase(client: ClickHouseClient, clusterId: string, blocks?: number): Promise<void> {
  await createTables(client)
  await client.command({ query: knowInsertsAgain(blocks, client.layout) })
  const store = projectStore(client, noProject)
  const [[owner] = []] = await store.rows<[string]>(`SELECT value FROM meta WHERE project_id = ${noProject} AND key = 'directory'`)
  if (owner === clusterId) return
  if (owner !== undefined) {
    const message = 'the ClickHouse database belongs to a data directory, or to another PostgreSQL. Give each a database of its own.'
    throw new WaymarkError('command-failed', { message })
  }
  await store.run(metaInsert, metaRow(noProject, 'directory', clusterId, rowVersion(1, 'put')))
}
