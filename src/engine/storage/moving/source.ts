import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { readAppliedSeq } from '../duckdb/inspect-store.ts'
import { type Instance, openInstance } from '../duckdb/instance.ts'
import { exists } from '../files/exists.ts'
import { lockDirectory } from '../locks/lock.ts'
import { inspectLog } from '../log/findings.ts'
import { filesOf } from '../project-storage.ts'

/** A data directory that nobody changes meanwhile: it is locked, and its stores have all records of their logs. */
export interface MoveSource {
  readonly dataDir: string
  readonly instance: Instance
  /** Attaches the store of a project and returns its name. Null: the project has had no records. */
  attach(project: number): Promise<string | null>
  detach(database: string): Promise<void>
  /** The last record of the log of an attached store. */
  positionOf(database: string): Promise<number>
  /** The salts of visitors without cookies, by day. */
  salts(): Promise<ReadonlyMap<number, Buffer>>
}

/** All records are applied, and the last owner has closed the directory. */
export async function withSource<T>(
  dataDir: string,
  memoryLimit: string | undefined,
  work: (source: MoveSource) => Promise<T>,
): Promise<T> {
  const lock = await lockDirectory(dataDir)
  let instance: Instance | null = null
  let left = lock.lastOwner
  try {
    instance = await openInstance({ dataDir, memoryLimit })
    const opened = instance
    const answer = await work({
      dataDir,
      instance: opened,
      async attach(project) {
        const files = filesOf(dataDir, project)
        if (!(await exists(files.store))) return null
        const database = await opened.attachProject(project)
        const [applied, { lastSeq }] = [await readAppliedSeq(opened, database), await inspectLog(files.log)]
        if (applied >= lastSeq) return database
        await opened.closeFile(database)
        const message = `Project ${project} got records while it was being opened. Run the command again.`
        throw new WaymarkError('command-failed', { message })
      },
      positionOf: (database) => readAppliedSeq(opened, database),
      detach: (database) => opened.closeFile(database),
      salts: () => saltsOf(dataDir),
    })
    left = 'closed'
    return answer
  } finally {
    await instance?.close()
    await lock.release(left)
  }
}

async function saltsOf(dataDir: string): Promise<ReadonlyMap<number, Buffer>> {
  const text = await readFile(join(dataDir, 'cookieless', 'salts.json'), 'utf8').catch(() => '{}')
  const stored = JSON.parse(text) as Readonly<Record<string, string>>
  return new Map(Object.entries(stored).map(([day, salt]) => [Number(day), Buffer.from(salt, 'base64')]))
}

/** How many projects have a store, and the bytes of all stores. */
export async function sizeOfStores(dataDir: string): Promise<{ readonly projects: number; readonly bytes: number }> {
  const names = await readdir(join(dataDir, 'projects')).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(filesOf(dataDir, name).store).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  const stores = sizes.filter((size) => size > 0)
  return { projects: stores.length, bytes: stores.reduce((sum, size) => sum + size, 0) }
}
