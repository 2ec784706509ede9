import { compareStores } from '../../engine/storage/moving/compare.ts'
import { copyProject } from '../../engine/storage/moving/copy-project.ts'
import { addressOf } from '../../engine/storage/moving/databases.ts'
import { followLog } from '../../engine/storage/moving/follow-log.ts'
import { mustNotBeMoved, readMark, removeMark, writeMark } from '../../engine/storage/moving/mark.ts'
import { type MoveSource, withSource } from '../../engine/storage/moving/source.ts'
import { syncDefinitions } from '../../engine/storage/moving/sync-definitions.ts'
import { inspectTarget, type MoveTarget, withTarget } from '../../engine/storage/moving/target.ts'
import { movedProjects, readMovedProject } from '../../engine/storage/postgres/moving.ts'
import { putStorage } from '../../engine/storage/postgres/plugin-storage.ts'
import { putSalts } from '../../engine/storage/postgres/salts.ts'
import { accountsFile } from '../directory/control.ts'
import { prepareSharedAccounts } from '../directory/shared-control.ts'
import { readStorageFile, storageIn } from '../plugins/file-storage.ts'
import { copyAccounts } from './copy-accounts.ts'
import {
  copying,
  type MovedProjectSummary,
  type MoveParts,
  mustBeEqual,
  mustBeMovable,
  projectsOf,
  projectsWithTransformations,
} from './parts.ts'
import { preload, removeWorkFolder } from './preload.ts'

// Moves a data directory into the databases of a cluster. What the directory has at the end is compared with what is there, and only then the directory is marked as moved.

export interface MoveSummary {
  readonly from: string
  readonly to: string
  readonly projects: readonly MovedProjectSummary[]
  readonly account_rows: number
  /** An earlier attempt had begun. */
  readonly resumed: boolean
  /** How long nobody took events. */
  readonly pause_seconds: number
  readonly seconds: number
}

/** A running server that has the directory. */
export interface MovedServer {
  /** Makes a folder with a copy of the directory while it is used. */
  copyTo(folder: string): Promise<void>
  /** Refuses requests from now on, and leaves the directory. */
  handOver(): Promise<void>
}

/** What no log has. */
const inNoLog: ReadonlySet<string> = new Set(['cohorts', 'definitions'])

type Named = Awaited<ReturnType<typeof projectsOf>>[number]

/** What is in the log and not there yet is appended and applied. Returns the projects for which that worked. */
async function followToTheEnd(source: MoveSource, target: MoveTarget, parts: MoveParts): Promise<ReadonlySet<number>> {
  const followed = new Set<number>()
  const behind: number[] = []
  const transformed = await projectsWithTransformations(source)
  for (const { id } of await projectsOf(source)) {
    const known = await readMovedProject(target.postgres, id)
    if (!known?.isWhole) continue
    if (transformed.has(id)) {
      await target.clear(id) // plugins were enabled meanwhile
      continue
    }
    try {
      const { seq } = await followLog(target, source.dataDir, id).follow(true)
      followed.add(id)
      if (seq > known.seq) behind.push(id)
    } catch {
      // The log does not have what follows: it is copied as a whole.
    }
  }
  if (behind.length === 0) return followed
  const cluster = await parts.openCluster()
  try {
    for (const id of behind) {
      parts.onProgress({ phase: 'following', project: id })
      await cluster.reach(id)
    }
  } finally {
    await cluster.close()
  }
  return followed
}

async function moveProject(source: MoveSource, target: MoveTarget, { id, name }: Named, isThere: boolean, parts: MoveParts) {
  const { instance } = source
  const database = await source.attach(id)
  if (database === null) return { id, name, position: 0, events: 0, persons: 0, copied_again: false }
  const compare = () => {
    parts.onProgress({ phase: 'comparing', project: id })
    return compareStores(instance, database, target.store(id))
  }
  const copy = () => copyProject({ instance, database, target, ...copying(id, parts) })
  try {
    if (!isThere) await copy()
    let compared = await compare()
    if (compared.differences.length > 0 && compared.differences.every(({ what }) => inNoLog.has(what))) {
      await syncDefinitions(instance, database, target, id)
      compared = await compare()
    }
    const differs = compared.differences.length > 0
    if (differs) {
      // What was copied earlier was of another moment, or the log does not tell everything.
      await target.clear(id)
      await copy()
      compared = await compare()
    }
    mustBeEqual(id, compared)
    const position = await source.positionOf(database)
    return { id, name, position, events: compared.events, persons: compared.persons, copied_again: differs }
  } finally {
    await source.detach(database)
  }
}

/** What there is once the directory does not change any more. */
async function finish(source: MoveSource, target: MoveTarget, parts: MoveParts) {
  const { instance } = source
  await instance.attach('control', 'control.duckdb', accountsFile)
  await mustBeMovable(source, parts.secretKeys)
  const projects: MovedProjectSummary[] = []
  const all = await projectsOf(source)
  for (const id of await movedProjects(target.postgres)) if (!all.some((one) => one.id === id)) await target.clear(id) // removed meanwhile
  const there = await followToTheEnd(source, target, parts)
  for (const project of all) {
    parts.signal.throwIfAborted()
    projects.push(await moveProject(source, target, project, there.has(project.id), parts))
  }
  const rows = await copyAccounts(instance, target.postgres)
  await putStorage(target.postgres, await readStorageFile(storageIn(parts.dataDir)))
  await putSalts(target.postgres, await source.salts())
  parts.signal.throwIfAborted()
  await writeMark(parts.dataDir, 'moved', addressOf(parts.engine))
  await target.release()
  return { projects, rows }
}

/** `server`: has the directory, and goes on until the end of the move. */
export async function moveToCluster(parts: MoveParts, server: MovedServer | null): Promise<MoveSummary> {
  const { dataDir, engine, memoryLimit } = parts
  const began = performance.now()
  const mark = await readMark(dataDir)
  // A move that was killed after its last step is over, too.
  const isOver = async () => mark?.to !== addressOf(engine) || (await inspectTarget(engine, dataDir)).moving === null
  if (mark?.state === 'moved' && (await isOver())) await mustNotBeMoved(dataDir)
  return withTarget(engine, dataDir, prepareSharedAccounts, async (target) => {
    const to = addressOf(engine)
    const known = await readMark(dataDir)
    if (known?.state === 'moved' && known.to === to && target.isResumed) {
      await target.release() // nothing else was left to do
      return {
        from: dataDir,
        to,
        projects: [],
        account_rows: 0,
        resumed: true,
        pause_seconds: 0,
        seconds: (performance.now() - began) / 1000,
      }
    }
    await mustNotBeMoved(dataDir)
    if (server) await preload(target, parts, (folder) => server.copyTo(folder))
    const paused = performance.now()
    await writeMark(dataDir, 'moving', to)
    try {
      await server?.handOver()
      if (server) parts.onProgress({ phase: 'leaving', project: 0 })
      await parts.settle(dataDir)
      const { projects, rows } = await withSource(dataDir, memoryLimit, (source) => finish(source, target, parts))
      await removeWorkFolder(dataDir)
      const now = performance.now()
      const times = { pause_seconds: (now - paused) / 1000, seconds: (now - began) / 1000 }
      return { from: dataDir, to, projects, account_rows: rows, resumed: target.isResumed, ...times }
    } catch (error) {
      if ((await readMark(dataDir))?.state === 'moving') await removeMark(dataDir)
      throw error
    }
  })
}
