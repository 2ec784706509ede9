import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { WaymarkError } from './errors/errors.ts'
import { type ProjectRecord, type ProjectRecords, projectRecords, projectsFile } from './storage/control/project-records.ts'
import { BrokenFileError, type Instance, openInstance } from './storage/duckdb/instance.ts'
import { type Lock, lockDirectory } from './storage/lock.ts'
import { logDefaults } from './storage/log/file-log.ts'
import { openProjectStorage, type ProjectStorage, type RecoveryReport, type StorageOptions } from './storage/project-storage.ts'

export interface OpenOptions {
  /** A directory, made when it is not there, or `:memory:`. */
  readonly dataDir: string
  /** The time of receipt and of relative dates. Default: the system's. */
  readonly clock?: () => Date
  /** Bytes, or text such as `512MB`, for the store and its queries. Default: the smaller of 40 % of the container's memory and 2 GiB. */
  readonly memoryLimit?: number | string
  /** Threads of the store. Default: as many as the process may use. */
  readonly threads?: number
  /** `fsync` (default): acknowledged events survive a power cut. `os`: they survive the process, not the machine. */
  readonly durability?: 'fsync' | 'os'
  /** How long, and up to how many bytes, the log keeps what the store already has. Default: 7 days. */
  readonly logRetention?: { readonly days?: number; readonly bytes?: number }
  /** Events are refused when fewer bytes than this would stay free on the disk. Default: 64 MiB. */
  readonly minFreeBytes?: number
  /** When parts of a project can be read neither from its store nor from its log: refuse to open it (`complete`, default), or go on without them. */
  readonly recovery?: 'complete' | 'partial'
}

const invalid = (attr: string, message: string) => new WaymarkError('validation-failed', { message: `${attr} ${message}`, attr })
const mustBe = (holds: boolean, attr: string, message: string) => {
  if (!holds) throw invalid(attr, message)
}
const isPositive = (value: unknown) => value === undefined || (typeof value === 'number' && value >= 0)

const check = (options: OpenOptions) => {
  mustBe(typeof options?.dataDir === 'string' && options.dataDir !== '', 'dataDir', 'must be the path of a directory, or ":memory:"')
  mustBe(options.clock === undefined || typeof options.clock === 'function', 'clock', 'must be a function that answers a Date')
  mustBe([undefined, 'fsync', 'os'].includes(options.durability), 'durability', 'must be "fsync" or "os"')
  mustBe([undefined, 'complete', 'partial'].includes(options.recovery), 'recovery', 'must be "complete" or "partial"')
  mustBe(isPositive(options.minFreeBytes), 'minFreeBytes', 'must be a number of bytes')
  mustBe(
    isPositive(options.logRetention?.days) && isPositive(options.logRetention?.bytes),
    'logRetention',
    'must hold numbers of days and bytes',
  )
}

const storageOptions = (options: OpenOptions, wasStale: boolean): StorageOptions => ({
  log: {
    durability: options.durability ?? logDefaults.durability,
    minFreeBytes: options.minFreeBytes ?? logDefaults.minFreeBytes,
    retention: {
      maxAge: options.logRetention?.days === undefined ? logDefaults.retention.maxAge : options.logRetention.days * 86_400_000,
      maxBytes: options.logRetention?.bytes ?? logDefaults.retention.maxBytes,
    },
  },
  recovery: options.recovery ?? 'complete',
  wasStale,
})

/**
 * Opens a data directory. One process owns it until `close()`.
 *
 * @example const waymark = await open({ dataDir: './data' })
 */
export async function open(options: OpenOptions): Promise<Waymark> {
  check(options)
  const isInMemory = options.dataDir === ':memory:'
  const dataDir = isInMemory ? options.dataDir : resolve(options.dataDir)
  const lock = isInMemory ? null : await takeDirectory(dataDir)
  let instance: Instance | null = null
  try {
    const clock = options.clock ?? (() => new Date())
    instance = await openInstance({ dataDir, memoryLimit: options.memoryLimit, threads: options.threads })
    await attachControl(instance)
    const records = projectRecords(instance, clock)
    return new Waymark({ dataDir, instance, lock, records, clock, storage: storageOptions(options, lock?.wasStale ?? false) })
  } catch (error) {
    await instance?.close()
    await lock?.release()
    throw error
  }
}

const takeDirectory = async (dataDir: string): Promise<Lock> => {
  try {
    await mkdir(join(dataDir, 'projects'), { recursive: true })
    return await lockDirectory(dataDir)
  } catch (error) {
    if (error instanceof WaymarkError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new WaymarkError('unusable-directory', { dataDir, reason }, { cause: error })
  }
}

const attachControl = async (instance: Instance): Promise<void> => {
  try {
    await instance.attach('control', 'control.duckdb', projectsFile)
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error
    throw new WaymarkError('unusable-directory', { dataDir: instance.dataDir, reason: error.message }, { cause: error })
  }
}

interface Parts {
  readonly dataDir: string
  readonly instance: Instance
  readonly lock: Lock | null
  readonly records: ProjectRecords
  readonly clock: () => Date
  readonly storage: StorageOptions
}

/** An open data directory. */
export class Waymark {
  readonly dataDir: string
  private readonly parts: Parts
  private readonly projects = new Map<number, Promise<Project>>()
  private closing: Promise<void> | null = null

  /** @internal Use `open`. */
  constructor(parts: Parts) {
    this.parts = parts
    this.dataDir = parts.dataDir
  }

  /** @example const project = await waymark.createProject({ name: 'Shop', timezone: 'Europe/Berlin' }) */
  async createProject(settings: Readonly<Record<string, unknown>> = {}): Promise<Project> {
    this.mustBeOpen()
    const record = await this.parts.records.create(settings)
    return this.opened(record.id, async () => record)
  }

  /** @example const project = await waymark.project(1) */
  async project(id: number): Promise<Project> {
    this.mustBeOpen()
    return this.opened(id, async () => {
      const record = await this.parts.records.byId(id)
      if (!record) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
      return record
    })
  }

  /** Finishes what was acknowledged, writes everything into the files and gives the directory free. A second call waits for the first one. */
  close(): Promise<void> {
    this.closing ??= this.shutDown()
    return this.closing
  }

  private mustBeOpen(): void {
    if (this.closing) throw new WaymarkError('closed', {})
  }

  private opened(id: number, read: () => Promise<ProjectRecord>): Promise<Project> {
    const known = this.projects.get(id)
    if (known) return known
    const opening = read().then((record) => openProject(this.parts, record))
    this.projects.set(id, opening)
    opening.catch(() => this.projects.delete(id))
    return opening
  }

  private async shutDown(): Promise<void> {
    try {
      const projects = await Promise.allSettled(this.projects.values())
      for (const project of projects) if (project.status === 'fulfilled') await project.value[closeProject]()
      await this.parts.instance.close()
    } finally {
      await this.parts.lock?.release()
    }
  }
}

const openProject = async (parts: Parts, record: ProjectRecord): Promise<Project> => {
  const storage = await openProjectStorage(parts.instance, record.id, parts.storage)
  return new Project(record, storage)
}

const closeProject = Symbol('closeProject')

export class Project {
  readonly id: number
  private readonly storage: ProjectStorage

  /** @internal Use `waymark.createProject` or `waymark.project`. */
  constructor(record: ProjectRecord, storage: ProjectStorage) {
    this.id = record.id
    this.storage = storage
  }

  /** What had to be mended when the project was opened; empty after an ordinary start. */
  recoveryReports(): readonly RecoveryReport[] {
    return this.storage.reports
  }

  /** @internal */
  async [closeProject](): Promise<void> {
    await this.storage.close()
  }
}
