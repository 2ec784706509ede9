import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../errors/errors.ts'
import { BrokenFileError, type Instance, identifier, isCorruption, projectDatabase } from './duckdb/instance.ts'
import { storeTables } from './duckdb/schema.ts'
import { FileLog, type LogSettings } from './log/file-log.ts'
import type { Log, LogDamage } from './log/log.ts'
import { MemoryLog } from './log/memory-log.ts'

/** What opening a project had to mend, or could not. */
export type RecoveryReport =
  | { readonly kind: 'store-rebuilt'; readonly keptAs: string; readonly reason: string; readonly fromSeq: number }
  | { readonly kind: 'store-rolled-back'; readonly keptAs: string; readonly reason: string; readonly fromSeq: number }
  | ({ readonly kind: 'log-damaged' } & LogDamage)

export interface ProjectStorage {
  /** The name that the project's store is attached under. */
  readonly database: string
  readonly log: Log
  readonly reports: readonly RecoveryReport[]
  close(): Promise<void>
}

export interface StorageOptions {
  readonly log: Partial<Pick<LogSettings, 'durability' | 'segmentBytes' | 'windowMs' | 'minFreeBytes' | 'retention' | 'disk'>>
  /** `partial`: go on without what is lost, and report it. `complete`: refuse. */
  readonly recovery: 'complete' | 'partial'
  /** The last owner crashed, so the store is read through before it is trusted. */
  readonly wasStale: boolean
}

/** Above this a store is not read through after a crash; a damaged block is then found by the query that needs it. */
const readThroughLimit = 1024 ** 3

export async function openProjectStorage(instance: Instance, id: number, options: StorageOptions): Promise<ProjectStorage> {
  const database = projectDatabase(id)
  if (instance.isInMemory) {
    await instance.attachProject(id)
    const log = new MemoryLog()
    return { database, log, reports: [], close: () => log.close() }
  }
  const folder = join(instance.dataDir, 'projects', String(id))
  await mkdir(folder, { recursive: true })
  const reports: RecoveryReport[] = []
  const rescue = await attachStore(instance, id, folder, options)
  const appliedSeq = await readAppliedSeq(instance, database)
  const log = await FileLog.open(
    join(folder, 'log'),
    {
      ...options.log,
      onDamage: options.recovery === 'partial' ? (damage) => reports.push({ kind: 'log-damaged', ...damage }) : 'refuse',
      beforeForgetting: () => instance.checkpoint(database),
    },
    appliedSeq,
  )
  try {
    reports.push(...log.damages.map((damage) => ({ kind: 'log-damaged' as const, ...damage })))
    let fromSeq = appliedSeq + 1
    if (log.firstSeq > fromSeq) {
      // What the store lacks is no longer in the log.
      if (options.recovery === 'complete')
        throw new WaymarkError('store-broken', { file: join(folder, 'store.duckdb'), lostTo: log.firstSeq - 1 })
      fromSeq = log.firstSeq
      await instance.run(`UPDATE ${identifier(database)}.main.meta SET value = $1 WHERE key = 'applied_seq'`, [String(fromSeq - 1)])
    }
    if (rescue) reports.push({ ...rescue.report, fromSeq })
  } catch (error) {
    await log.close()
    await instance.detach(database)
    await rescue?.undo()
    throw error
  }
  return { database, log, reports, close: () => log.close() }
}

const readAppliedSeq = async (instance: Instance, database: string): Promise<number> => {
  const [row] = await instance.rows<{ value: string }>(`SELECT value FROM ${identifier(database)}.main.meta WHERE key = 'applied_seq'`)
  return Number(row?.value ?? 0)
}

interface Rescue {
  readonly report: { readonly kind: 'store-rebuilt' | 'store-rolled-back'; readonly keptAs: string; readonly reason: string }
  /** Puts the broken files back where they were. */
  undo(): Promise<void>
}

/**
 * A store that cannot be opened is first tried without its write-ahead log: what is left is the last checkpoint, and the log has what came after.
 * If that does not help it is set aside whole, and an empty one takes its place.
 */
async function attachStore(instance: Instance, id: number, folder: string, options: StorageOptions): Promise<Rescue | null> {
  const path = join(folder, 'store.duckdb')
  const suffix = `.broken-${new Date().toISOString().replaceAll(':', '')}`
  const attempt = async (): Promise<string | null> => {
    try {
      const database = await instance.attachProject(id)
      if (options.wasStale) await readThrough(instance, database, path)
      return null
    } catch (error) {
      if (!(error instanceof BrokenFileError)) throw error
      await instance.abandon(projectDatabase(id))
      return error.message
    }
  }
  const reason = await attempt()
  if (reason === null) return null
  const wal = `${path}.wal`
  const walAside = `${path}${suffix}.wal`
  const hasWal = await isThere(wal)
  const undoWal = async () => {
    if (hasWal) await rename(walAside, wal)
  }
  if (hasWal) {
    await rename(wal, walAside)
    if ((await attempt()) === null) return { report: { kind: 'store-rolled-back', keptAs: walAside, reason }, undo: undoWal }
  }
  const aside = `${path}${suffix}`
  await rename(path, aside)
  await instance.attachProject(id)
  const undo = async () => {
    await rename(aside, path)
    await undoWal()
  }
  return { report: { kind: 'store-rebuilt', keptAs: aside, reason }, undo }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function readThrough(instance: Instance, database: string, path: string): Promise<void> {
  const { size } = await stat(path)
  for (const table of Object.keys(storeTables)) {
    if (table === 'events' && size > readThroughLimit) continue
    try {
      await instance.rows(`SELECT bit_xor(hash(t)) FROM ${identifier(database)}.main.${table} AS t`)
    } catch (error) {
      throw isCorruption(error) ? new BrokenFileError(path, error) : error
    }
  }
}
