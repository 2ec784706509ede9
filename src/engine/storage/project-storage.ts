import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine } from '../execution/ports.ts'
import { CopiedStore } from './duckdb/copy-store.ts'
import { duckdbEngine } from './duckdb/engine.ts'
import { mustBeWhole } from './duckdb/file/whole-file.ts'
import { beginsAsLog, damagedLog } from './duckdb/file/write-ahead-log.ts'
import { readAppliedSeq, readThrough, type StoreInspector } from './duckdb/inspect-store.ts'
import { BrokenFileError, type Instance, identifier, projectDatabase } from './duckdb/instance.ts'
import { exists } from './files/exists.ts'
import { makePrivate } from './files/private-files.ts'
import type { FormatNotice, Migrating } from './format.ts'
import type { LastOwner } from './locks/lock.ts'
import { FileLog, type LogSettings, logDefaults, repaired } from './log/file-log.ts'
import { findDamages, inspectLog, type LogFindings } from './log/findings.ts'
import type { Log, LogDamage } from './log/log.ts'
import { MemoryLog } from './log/memory-log.ts'
import { readPosition } from './log/position.ts'
import { type LogWriter, TailedLog } from './log/tailed-log.ts'
import { type ProjectFindings, planRecovery, type RecoveryPlan } from './recovery/recovery-plan.ts'
import type { Rebuilt, RecoveryReport } from './recovery/recovery-report.ts'
import type { StoreFindings } from './recovery/store-findings.ts'
import type { StoreSpace } from './store-space.ts'

/** A store that is rebuilt: from the records of the log that are not applied. */
export interface Recovery extends Pick<Rebuilt, 'keptAs' | 'reason' | 'fromSeq' | 'toSeq'> {
  readonly kind: 'store-rebuilt' | 'store-rolled-back'
}

export interface ProjectStorage {
  readonly engine: Engine
  /** Folder for caches derived from events; null: caches stay in memory. */
  readonly cacheFolder: string | null
  readonly log: Log
  /** What is damaged or lost. */
  readonly reports: readonly RecoveryReport[]
  readonly recovery: Recovery | null
  /** Null: the store has no file of its own. */
  readonly space: StoreSpace | null
  /** Where several processes change definitions: does it while no other one does. */
  readonly alone?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
  close(): Promise<void>
  /** Releases everything without a checkpoint. */
  abandon(): Promise<void>
}

export interface StorageOptions {
  readonly log: Partial<
    Pick<LogSettings, 'durability' | 'segmentBytes' | 'windowMs' | 'minFreeBytes' | 'retention' | 'disk' | 'compression' | 'report'>
  >
  /** `partial`: open without lost records, and report them. `complete`: refuse. */
  readonly recovery: 'complete' | 'partial'
  /** Whether the store is verified before it is used. A store that was not closed always is. */
  readonly isThorough: boolean
  /** Whether a copy of a store is kept before its format changes. Default: true. */
  readonly keepsFormatCopies?: boolean | undefined
  /** Another process writes the log. */
  readonly tail?: LogTail
  onFormat?(notice: FormatNotice): void
}

/** A log that another process writes. */
export interface LogTail {
  readonly writer: LogWriter
  /** The last durable record of a log that is being written; null: no process has it open, and it is repaired first. */
  readonly liveSeq: number | null
  /** The log is repaired, and its writer may open it. The store has its records up to `appliedSeq`. */
  inOrder(found: LogFindings, appliedSeq: number): void
  /** What was opened; receives the position of the log. */
  opened(log: TailedLog): void
}

/** In the folder of a project: what became of records whose transformation a crash interrupted. */
export const transformedIn = (folder: string): string => join(folder, 'transformed.jsonl')

/** The paths of a project's files. */
export const filesOf = (dataDir: string, id: number | string) => {
  const folder = join(dataDir, 'projects', String(id))
  return {
    folder,
    store: join(folder, 'store.duckdb'),
    log: join(folder, 'log'),
    position: join(folder, 'log.position'),
    backedUp: join(folder, 'backed-up'),
    /** Present until it is known that the store was copied at one moment. */
    copied: join(folder, 'copied'),
    answers: join(folder, 'answers'),
  }
}

/**
 * The end of the log is unknown in a copy that was made while the original was written to, or on a machine that may have lost data that was not
 * synced.
 */
const mayLackRecords = (lastOwner: LastOwner, durability: LogSettings['durability']): boolean =>
  lastOwner === 'copied' || (lastOwner === 'rebooted' && durability === 'os')

/** For all projects, once at the start: later owners of the directory find no trace of its history. */
export async function forgetPositions(dataDir: string, lastOwner: LastOwner, durability: LogSettings['durability']): Promise<void> {
  if (!mayLackRecords(lastOwner, durability)) return
  for (const name of await readdir(join(dataDir, 'projects'))) {
    const { position, copied } = filesOf(dataDir, name)
    await rm(position, { force: true })
    if (lastOwner === 'copied') await writeFile(copied, '', { mode: 0o600 })
  }
}

interface Look {
  /** The expected end of the log. */
  readonly position: number
  readonly hadEvents: boolean
  /** Reads all of the log, including applied records. */
  readonly isWholeLog: boolean
  /** Another process writes the log, and it is durable up to here. */
  readonly liveSeq?: number | null
  findStore(): Promise<StoreFindings>
}

export interface ProjectInspection {
  readonly found: ProjectFindings
  readonly plan: RecoveryPlan
}

export async function findProject(files: ReturnType<typeof filesOf>, look: Look): Promise<ProjectInspection> {
  const hasLogFolder = await exists(files.log)
  const log = look.liveSeq == null ? await inspectLog(files.log, look.position) : liveLog(await inspectLog(files.log), look.liveSeq)
  const store = await look.findStore()
  const appliedSeq = 'appliedSeq' in store ? store.appliedSeq : 0
  const damages = await findDamages(log, look.isWholeLog ? 1 : appliedSeq + 1)
  const found = { file: files.store, store, log, hasLogFolder, damages, hadEvents: look.hadEvents }
  return { found, plan: planRecovery(found) }
}

/** Data after the last durable record is still being written. */
const liveLog = (found: LogFindings, liveSeq: number): LogFindings => ({ ...found, lastSeq: liveSeq, damages: [], remains: [] })

/** What opening a project would do with its files, after reading all of them. Changes nothing; no process may have it open. */
export function inspectProject(
  { instance, inspect }: StoreInspector,
  id: number,
  lastOwner: LastOwner,
  hadEvents: boolean,
  /** For stores without a file. */
  findStore?: () => Promise<StoreFindings>,
): Promise<ProjectInspection> {
  const files = filesOf(instance.dataDir, id)
  const position = mayLackRecords(lastOwner, logDefaults.durability) ? 0 : readPosition(files.position).seq
  return findProject(files, { position, hadEvents, isWholeLog: true, findStore: findStore ?? (() => inspect(files.store)) })
}

export async function openProjectStorage(
  instance: Instance,
  id: number,
  options: StorageOptions,
  hadEvents = false,
): Promise<ProjectStorage> {
  const database = projectDatabase(id)
  if (instance.isInMemory) {
    await instance.attachProject(id)
    const log = new MemoryLog()
    return { ...opened(instance, database, log), cacheFolder: null, reports: [], recovery: null, space: null }
  }
  const files = filesOf(instance.dataDir, id)
  const aside = asideOf(files.store)
  const migrating: Migrating = { keepsCopy: options.keepsFormatCopies, notice: (notice) => options.onFormat?.(notice) }
  try {
    const position = readPosition(files.position)
    const liveSeq = options.tail?.liveSeq ?? null
    const isThorough = options.isThorough || (liveSeq === null && position.isClosed === false)
    const isCopied = await exists(files.copied)
    const findStore = () => attachReadable(instance, id, aside, { isThorough, isCopied, migrating })
    const look = { position: position.seq, hadEvents, isWholeLog: false, liveSeq, findStore }
    const { found, plan } = await findProject(files, look)
    const { log, reports, fromSeq } = await openLog(files, { found, plan }, options, {
      async begin() {
        await aside.move(files.store)
        await aside.move(walOf(files.store))
        await instance.attachProject(id)
      },
      skipTo: async (seq) => void (await setAppliedSeq(instance, database, seq)),
      makeDurable: () => instance.makeDurable(database),
    })
    if (isCopied) await rm(files.copied)
    const recovery = recoveryOf(found, plan, { keptAs: aside.kept, fromSeq, toSeq: log.lastSeq })
    const space = new CopiedStore(instance, database, files.store)
    return { ...opened(instance, database, log), cacheFolder: files.folder, reports, recovery, space }
  } catch (error) {
    await instance.abandon(database)
    await aside.undo()
    throw error
  }
}

/** What opening a project needs from its store. */
interface OpeningStore {
  /** Creates an empty store in place of an unreadable one. */
  begin(): Promise<void>
  /** Records up to `seq` are lost: continues after them. */
  skipTo(seq: number): Promise<void>
  /** Makes the contents of the store durable. */
  makeDurable(): Promise<void>
}

/** Opens the log of a store. `fromSeq`: the first record that is not applied. */
export async function openLog(
  files: ReturnType<typeof filesOf>,
  { found, plan }: ProjectInspection,
  options: StorageOptions,
  store: OpeningStore,
): Promise<{ readonly log: Log; readonly reports: readonly RecoveryReport[]; readonly fromSeq: number }> {
  if (plan.refusal && options.recovery === 'complete') throw plan.refusal
  await mkdir(files.log, { recursive: true, mode: 0o700 }) // before the store: a store without a log's folder has lost it
  if (plan.from === 'log' || plan.from === 'nothing') await store.begin()
  const skipTo = plan.lost.find(({ reason }) => reason === 'forgotten')?.toSeq ?? null
  if (skipTo !== null) await store.skipTo(skipTo)
  const appliedSeq = skipTo ?? plan.appliedSeq
  const reports: RecoveryReport[] = [
    ...plan.harmless.map((damage) => ({ kind: 'log-damaged', ...damage }) as const),
    ...plan.lost.map((lost) => ({ kind: 'records-lost', ...lost }) as const),
  ]
  const onDamage = options.recovery === 'partial' ? (damage: LogDamage) => addLost(reports, damage) : 'refuse'
  const { tail } = options
  const log = tail
    ? await tailLog(files.log, tail, found.log, appliedSeq, onDamage)
    : await FileLog.open(
        files.log,
        { ...options.log, onDamage, positionFile: files.position, backedUpFile: files.backedUp, beforeDelete: store.makeDurable },
        appliedSeq,
        found.log,
      )
  await makePrivate(files.folder)
  return { log, reports, fromSeq: appliedSeq + 1 }
}

async function tailLog(
  directory: string,
  { liveSeq, writer, inOrder, opened }: LogTail,
  findings: LogFindings,
  appliedSeq: number,
  onDamage: 'refuse' | ((damage: LogDamage) => void),
): Promise<Log> {
  const found = liveSeq === null ? await repaired(directory, appliedSeq, findings) : findings
  const log = new TailedLog({ directory, lastSeq: Math.max(found.lastSeq, appliedSeq), writer, onDamage })
  if (liveSeq === null) inOrder(found, appliedSeq)
  opened(log)
  return log
}

const opened = (instance: Instance, database: string, log: Log): Pick<ProjectStorage, 'engine' | 'log' | 'close' | 'abandon'> => ({
  engine: duckdbEngine(instance, database),
  log,
  async close() {
    await log.close()
    await instance.closeFile(database)
  },
  async abandon() {
    await log.close()
    await instance.abandon(database)
  },
})

const walOf = (store: string) => `${store}.wal`

/** Files that cannot be opened are renamed. They get their names back if opening is refused. */
function asideOf(store: string) {
  const suffix = `.broken-${new Date().toISOString().replaceAll(':', '')}`
  const moved: { file: string; aside: string }[] = []
  return {
    store,
    get kept(): string | null {
      return moved[0]?.aside ?? null
    },
    async move(file: string): Promise<void> {
      if (!(await exists(file))) return
      const aside = `${store}${suffix}${file.slice(store.length)}`
      await rename(file, aside)
      moved.push({ file, aside })
    },
    async undo(): Promise<void> {
      if (moved.some(({ file }) => file === store)) await rm(walOf(store), { force: true }) // of the store that replaced it
      for (const { file, aside } of moved.splice(0).reverse()) await rename(aside, file)
    },
  }
}

export function recoveryOf(
  { store }: ProjectFindings,
  { from }: RecoveryPlan,
  made: Pick<Rebuilt, 'keptAs' | 'fromSeq' | 'toSeq'>,
): Recovery | null {
  if (from === 'store' || from === 'nothing') return null
  const reason = 'reason' in store ? store.reason : 'the file is missing'
  return { kind: from === 'checkpoint' ? 'store-rolled-back' : 'store-rebuilt', reason, ...made }
}

/** Excludes damage that was reported before: a reader meets it again, with anything that happened since. */
function addLost(reports: RecoveryReport[], { fromSeq, toSeq, file, offset }: LogDamage): void {
  const isKnown = reports.some(
    (one) => 'offset' in one && one.fromSeq <= fromSeq && (one.toSeq ?? Number.POSITIVE_INFINITY) >= (toSeq ?? fromSeq),
  )
  if (!isKnown) reports.push({ kind: 'records-lost', fromSeq, toSeq, file, offset, reason: 'damaged' })
}

const setAppliedSeq = (instance: Instance, database: string, seq: number) =>
  instance.run(`UPDATE ${identifier(database)}.main.meta SET value = $1 WHERE key = 'applied_seq'`, [String(seq)])

/**
 * Attaches the store if it can be read, possibly without its write-ahead log: then it has the state of the last checkpoint, and the log has later
 * records. A damaged store is not changed.
 */
async function attachReadable(
  instance: Instance,
  id: number,
  aside: ReturnType<typeof asideOf>,
  { isThorough, isCopied, migrating }: { readonly isThorough: boolean; readonly isCopied: boolean; readonly migrating: Migrating },
): Promise<StoreFindings> {
  const path = aside.store
  const database = projectDatabase(id)
  const attempt = async (): Promise<string | null> => {
    try {
      if (isCopied) await mustBeWhole(path)
      await instance.attachProject(id, migrating)
      if (isThorough) await readThrough(instance, database, path)
      return null
    } catch (error) {
      await instance.abandon(database)
      if (!(error instanceof BrokenFileError)) throw error
      return error.message
    }
  }
  if (!(await exists(path))) return { state: 'missing' }
  const reason = (await beginsAsLog(walOf(path))) ? await attempt() : damagedLog
  if (reason === null) return { state: 'sound', appliedSeq: await readAppliedSeq(instance, database) }
  if (!(await exists(walOf(path)))) return { state: 'broken', reason }
  await aside.move(walOf(path))
  if ((await attempt()) === null) return { state: 'readable-without-wal', reason, appliedSeq: await readAppliedSeq(instance, database) }
  await aside.undo()
  return { state: 'broken', reason }
}
