import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InternalError, WaymarkError } from '../../errors/errors.ts'
import type { ClickHouseClient } from './clickhouse/client.ts'
import { clickHouseEngine, type EngineOptions } from './clickhouse/engine.ts'
import { metaInsert, metaRow, readAppliedSeq } from './clickhouse/journal.ts'
import { type ProjectStore, projectStore, removeRows, rowVersion } from './clickhouse/project-store.ts'
import { clickHouseTables } from './clickhouse/schema.ts'
import { createTables } from './clickhouse/tables.ts'
import { fileOfRows } from './duckdb/writing/file-of-rows.ts'
import { parquetOfRows } from './duckdb/writing/parquet-of-rows.ts'
import { exists } from './files/exists.ts'
import { createBlockLimit } from './log/compressing.ts'
import { MemoryLog } from './log/memory-log.ts'
import { readPosition } from './log/position.ts'
import { filesOf, findProject, openLog, type ProjectStorage, recoveryOf, type StorageOptions } from './project-storage.ts'
import type { Stores } from './stores.ts'

export interface ClickHouseStoresOptions {
  /** The folder of the logs; `:memory:` if they are not stored. */
  readonly dataDir: string
  readonly storage: StorageOptions
  readonly engine: EngineOptions
  /** Whether the client is closed with the stores. */
  readonly ownsClient: boolean
}

/** Not the id of a project: for facts about the whole database. */
export const noProject = 0

const idFile = (dataDir: string) => join(dataDir, 'clickhouse.id')

/** Without the server's id, a second store would be rebuilt from the log beside the existing one. */
export async function mustNotBeOnClickHouse(dataDir: string): Promise<void> {
  if (dataDir === ':memory:' || !(await exists(idFile(dataDir)))) return
  const reason =
    'its events are on a ClickHouse server. Set the URL of that server: `--clickhouse URL`, `WAYMARK_CLICKHOUSE`, or the option `engine` of `open`.'
  throw new WaymarkError('unusable-directory', { dataDir, reason })
}

/** Projects in two directories have the same numbers, so a database belongs to the first directory that opens it. */
export async function ownerOf(store: ProjectStore, dataDir: string) {
  const [[owner] = []] = await store.rows<[string]>(`SELECT value FROM meta WHERE project_id = ${noProject} AND key = 'directory'`)
  const file = idFile(dataDir)
  const own = dataDir === ':memory:' || !(await exists(file)) ? null : await readFile(file, 'utf8')
  if (owner !== undefined && owner !== own) {
    const reason = 'the ClickHouse database belongs to another data directory. Give each directory a database of its own.'
    throw new WaymarkError('unusable-directory', { dataDir, reason })
  }
  return { owner, own, file }
}

async function claimDatabase(store: ProjectStore, dataDir: string, isInMemory: boolean): Promise<void> {
  const { owner, own, file } = await ownerOf(store, dataDir)
  if (owner !== undefined || isInMemory) return
  for (const table of Object.keys(clickHouseTables)) await store.run(`TRUNCATE TABLE ${table}`) // of processes that kept nothing else
  const made = own ?? randomUUID()
  await writeFile(file, made, { mode: 0o600 })
  await store.run(metaInsert, metaRow(noProject, 'directory', made, rowVersion(await store.nextVersion(), 'put')))
}

/** The rows of all projects on one server, their logs in the data directory. */
export async function openClickHouseStores(
  client: ClickHouseClient,
  { dataDir, storage, engine, ownsClient }: ClickHouseStoresOptions,
): Promise<Stores> {
  await createTables(client)
  const isInMemory = dataDir === ':memory:'
  const compression = createBlockLimit()
  await claimDatabase(projectStore(client, noProject), dataDir, isInMemory)

  const inMemory = async (store: ProjectStore): Promise<ProjectStorage> => {
    if ((await readAppliedSeq(store)) !== null) await removeRows(store) // of another process, whose log is missing
    const log = new MemoryLog()
    const close = () => log.close()
    return {
      engine: clickHouseEngine(store, engine),
      log,
      cacheFolder: null,
      reports: [],
      recovery: null,
      space: null,
      close,
      abandon: close,
    }
  }

  return {
    async open(id, { hadEvents, tail, report }) {
      const store = projectStore(client, id)
      if (isInMemory) return inMemory(store)
      const files = filesOf(dataDir, id)
      const findStore = async () => {
        const appliedSeq = await readAppliedSeq(store)
        return appliedSeq === null ? ({ state: 'missing' } as const) : ({ state: 'sound', appliedSeq } as const)
      }
      const look = { position: readPosition(files.position).seq, hadEvents, isWholeLog: false, liveSeq: tail?.liveSeq ?? null, findStore }
      const { found, plan } = await findProject(files, look)
      const given = { ...storage, log: { ...storage.log, compression, ...(report ? { report } : {}) } }
      const { log, reports, fromSeq } = await openLog(files, { found, plan }, tail ? { ...given, tail } : given, {
        begin: async () => undefined, // rows come into tables that are there
        skipTo: async (seq) => store.run(metaInsert, metaRow(id, 'applied_seq', String(seq), rowVersion(await store.nextVersion(), 'put'))),
        makeDurable: async () => undefined,
      })
      const recovery = recoveryOf(found, plan, { keptAs: null, fromSeq, toSeq: log.lastSeq })
      const close = () => log.close()
      return {
        engine: clickHouseEngine(store, engine),
        log,
        cacheFolder: files.folder,
        reports,
        recovery,
        space: null,
        close,
        abandon: close,
      }
    },
    async drop(id) {
      await removeRows(projectStore(client, id))
      if (!isInMemory) await rm(filesOf(dataDir, id).folder, { recursive: true, force: true })
    },
    makeDurable: async () => undefined, // the server's to do
    replace: async () => {
      throw new InternalError('A store on a server has no copy')
    },
    settle: async () => undefined,
    isDamage: () => false,
    parquetOf: parquetOfRows(dataDir),
    fileOf: fileOfRows,
    close: async () => {
      if (ownsClient) await client.close()
    },
  }
}
