import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { WaymarkError } from '../../../errors/errors.ts'
import { createConcurrencyLimit } from '../../../lib/flow/concurrency-limit.ts'
import { MemoryShare } from '../../../lib/memory/memory-share.ts'
import { WhenIdle } from '../../../lib/memory/when-idle.ts'
import { exists } from '../files/exists.ts'
import { keepCopy, keptCopyOf, removeOldCopies, removeOtherCopies } from '../files/kept-copies.ts'
import { noteLocked, releaseLocked } from '../files/locked-files.ts'
import { removeStoreCopy, replaceByCopy } from '../files/store-copy.ts'
import type { FileFormat, FormatChange, Migrating } from '../format.ts'
import type { Sql, SqlRow, SqlValue } from '../sql.ts'
import { BackgroundStatements } from './background-statements.ts'
import { boundDefinitions } from './bound-definitions.ts'
import { defaultConcurrency, defaultMemoryLimit, defaultThreads, listMemoryBytes, memoryBytes } from './budget.ts'
import { copyEmptyFile } from './empty-files.ts'
import { BlockNotes } from './file/block-notes.ts'
import { FileIsBusy, WriteGate } from './file/write-gate.ts'
import { interruptAtExit } from './live-instances.ts'
import { type MemoryWatch, watchMemory } from './memory-watch.ts'
import { storeFile } from './migrations.ts'
import { ConnectionPool } from './pool.ts'
import { fileOptions } from './schema.ts'

export interface InstanceOptions {
  /** An existing directory, or `:memory:`. */
  readonly dataDir: string
  readonly memoryLimit?: number | string | undefined
  /** Of the lists of events. Default: a quarter of the memory limit. */
  readonly listMemory?: number | string | undefined
  readonly threads?: number | undefined
  /** The number of query statements that may run at the same time. */
  readonly concurrency?: number
  /** Connections for queries: one for each running statement, and one for each result that is being read. */
  readonly connections?: number
  /** `read`: files are attached read-only, and nothing in the directory changes. */
  readonly access?: 'write' | 'read'
  /** Other directories whose files may be read. */
  readonly besideDirs?: readonly string[] | undefined
}

/** A file that exists but cannot be opened: truncated, overwritten, or with a write-ahead log that does not replay. */
export class BrokenFileError extends Error {
  override readonly name = 'BrokenFileError'
  readonly file: string

  constructor(file: string, cause: unknown) {
    super(`${file} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.file = file
  }
}

export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** DuckDB's error for a block with a wrong checksum: the file itself is damaged. */
export const isCorruption = (error: unknown): boolean =>
  error instanceof Error &&
  (/Corrupt database file|Corrupt WAL|not a valid DuckDB database|Could not read enough bytes/.test(error.message) ||
    isCorruption(error.cause))

/** The file was not accessible, or there was no memory to open it: its contents may be intact. */
const isOutsideFault = (error: unknown): boolean =>
  isOutOfMemory(error) ||
  (error instanceof Error &&
    /Permission denied|Read-only file system|No space left|Disk quota exceeded|Too many open files|Cannot allocate memory|Input\/output error/i.test(
      error.message,
    ))

/** The file is whole, and a newer DuckDB wrote it or its write-ahead log. Its versions are not those of Waymark's formats. */
const newerDatabase = (error: unknown): { readonly found: number; readonly supported: number } | null => {
  const message = error instanceof Error ? error.message : ''
  const file = /database file with version number (\d+), but we can only read versions between \d+ and (\d+)/.exec(message)
  const log = /read WAL of version (\d+) - can only read version \D{0,40}(\d+)/.exec(message)
  const match = file ?? log
  return match && { found: Number(match[1]), supported: Number(match[2]) }
}

export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && /Out of Memory Error|failed to (pin|allocate)|could not allocate/.test(error.message)

/** DuckDB gives up a database whose checkpoint failed: it must be detached and attached again. */
export const isInvalidated = (error: unknown): boolean =>
  error instanceof Error && (/has been invalidated/.test(error.message) || isInvalidated(error.cause))

export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && /No space left on device|Disk quota exceeded/.test(error.message)

const lockHolder = (error: unknown): number | null => {
  const message = error instanceof Error ? error.message : ''
  return /Conflicting lock is held/.test(message) ? Number(/PID (\d+)/.exec(message)?.[1] ?? 0) : null
}

/** Bytes of the write-ahead log after which a commit also does a checkpoint. */
const checkpointBytes = (memoryLimit: number): number => Math.min(256e6, memoryLimit / 2)
/** An early checkpoint happens above this part of them. */
const shareOfEarly = 0.75

/** Part of the memory for the large texts that a thread reads at a time: reading one as JSON takes about four times its size, and a query reads several properties. */
const partOfLargeTexts = 16
/** Merges of row groups in one checkpoint: the default of the engine. */
const usualMerges = 100

/** Between two looks at the write-ahead logs of all files. */
const betweenLooksMs = 500

/** Blocks of files that nothing was asked of or written to for so long leave memory. */
const idleMs = 5 * 60_000
/** What the engine keeps then. */
const idleBytes = 64 * 1024 ** 2

/** Lists of a project that nobody asked for so long: the next question reads them from their files. */
const idleListsMs = 3_600_000

/** Memory that the allocator keeps, and that other work of the process uses while a statement runs. */
const besideTheEngine = 256 * 1024 ** 2

/** How long a file that is closed waits for its last transaction, and between two looks. */
const lastTransactionMs = 10_000
const lookAgainMs = 20

/** What a small transaction of a project may take: measured with 128 columns of events, as staged rows and as rows that are not committed. */
const bytesOfTransaction = 96 * 1024 ** 2

/**
 * The one DuckDB instance of a data directory. All files are attached to it, so they share one budget of memory and threads. It must run in one thread of
 * the process: opening the same file again in the process would silently create a second, different database.
 */
export class Instance implements Sql {
  readonly dataDir: string
  /** Where it may write files for others. In memory it is outside of any data directory. */
  readonly stagingFolder: string
  readonly memoryLimit: number
  readonly threads: number
  /** The number of query statements that may run at the same time. */
  readonly concurrency: number
  /** What the lists of the core may take. */
  readonly listMemory: MemoryShare
  /** Stops statements that use much more memory than the engine counts. */
  readonly memory: MemoryWatch
  /** For large statements of owned connections, while no query runs. */
  readonly background = new BackgroundStatements(() => this.threads === 1 || this.pool.inUse > 0 || this.readers.size > 0)
  /** For transactions that write more than a few rows to a store. */
  readonly gate = new WriteGate()
  /** As many transactions and checkpoints of stores at a time as fit. The first row of a table takes a block for each column until it is committed. */
  readonly writing: <T>(work: () => Promise<T>) => Promise<T>
  private readonly database: DuckDBInstance
  private readonly pool: ConnectionPool
  /** For short internal statements: account data, facts of a store. Long queries do not delay them. */
  private readonly quick: ConnectionPool
  private readonly attached = new Map<string, string>()
  private readonly notes = new Map<string, BlockNotes>()
  /** Files whose row groups are not merged. */
  private readonly apart = new Set<string>()
  /** Files with a copy that may replace them, and lacks what was written since. */
  private readonly copied = new Set<string>()
  private readonly readers = new Set<() => Promise<void>>()
  private readonly connections = new Set<DuckDBConnection>()
  /** Files that somebody waits for to be settled. */
  private readonly wanted = new Set<string>()
  private isLooking = false
  private lookedAt = 0
  private readonly idle = new WhenIdle(
    idleMs,
    () => this.running > 0 || this.readers.size > 0,
    () => void this.releaseMemory().catch(() => undefined), // what is pinned stays
  )
  readonly isReadOnly: boolean
  private readonly forgetAtExit: () => void

  constructor(
    database: DuckDBInstance,
    options: {
      dataDir: string
      stagingFolder: string
      memoryLimit: number
      listMemory: number
      threads: number
      slots: number
      connections: readonly DuckDBConnection[]
      isReadOnly: boolean
    },
  ) {
    this.database = database
    this.dataDir = options.dataDir
    this.stagingFolder = options.stagingFolder
    this.memoryLimit = options.memoryLimit
    this.threads = options.threads
    this.listMemory = new MemoryShare(options.listMemory, options.dataDir === ':memory:' ? undefined : idleListsMs)
    this.concurrency = options.slots
    this.isReadOnly = options.isReadOnly
    const atOnce = Math.max(1, Math.floor(options.memoryLimit / bytesOfTransaction))
    const limit = createConcurrencyLimit({ atOnce, waiting: Number.POSITIVE_INFINITY, refusal: () => new WaymarkError('closed', {}) })
    this.writing = (work) => {
      this.idle.used()
      return limit('', work)
    }
    for (const connection of options.connections) this.follow(connection)
    this.pool = new ConnectionPool(() => this.connect(), options.connections.length, options.connections)
    this.quick = new ConnectionPool(() => this.connect(), 2)
    this.forgetAtExit = interruptAtExit(this)
    this.memory = watchMemory({ most: options.memoryLimit / 2 + besideTheEngine, counted: () => this.counted() })
  }

  /** Characters of large events that a row group may have: each thread reads one. */
  get largeEvents(): number {
    return Math.floor(this.memoryLimit / partOfLargeTexts / this.threads)
  }

  get isInMemory(): boolean {
    return this.dataDir === ':memory:'
  }

  /** A connection with one owner, who closes it (the apply stage of a project). */
  async connect(): Promise<DuckDBConnection> {
    return this.follow(await this.database.connect())
  }

  private follow(connection: DuckDBConnection): DuckDBConnection {
    const close = connection.closeSync.bind(connection)
    this.connections.add(connection)
    connection.closeSync = () => {
      this.connections.delete(connection)
      close()
    }
    return connection
  }

  /** Stops every running statement. */
  interrupt(): void {
    for (const connection of this.connections) connection.interrupt()
  }

  /** Running statements of queries and of short reads. */
  get running(): number {
    return this.pool.inUse + this.quick.inUse
  }

  acquire(signal?: AbortSignal): Promise<DuckDBConnection> {
    this.idle.used()
    return this.pool.acquire(signal)
  }

  release(connection: DuckDBConnection): void {
    this.pool.release(connection)
  }

  use<T>(work: (connection: DuckDBConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.idle.used()
    return this.pool.use(work, signal)
  }

  /** A short read that does not wait for queries. */
  look<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return this.quick.use(work)
  }

  /** A connection for a result that is read in parts. Open ones end when the instance closes. */
  async beside(): Promise<{ readonly connection: DuckDBConnection; close(): Promise<void> }> {
    const connection = await this.connect()
    const close = async () => {
      if (!this.readers.delete(close)) return
      await connection.run('SELECT 1').catch(() => undefined) // another statement releases a result that was not read to its end
      connection.closeSync()
    }
    this.readers.add(close)
    return { connection, close }
  }

  /** Gives back the memory of blocks that the engine keeps in case they are read again. */
  async releaseMemory(kept = idleBytes): Promise<void> {
    if (this.memoryLimit <= kept || this.isInMemory) return
    await this.look((connection) => connection.run(`SET GLOBAL ${limitSetting(kept)}; SET GLOBAL ${limitSetting(this.memoryLimit)}`))
  }

  /** Bytes of memory that the engine knows of. */
  async counted(): Promise<number> {
    const [row] = await this.rows<{ bytes: number }>('SELECT CAST(sum(memory_usage_bytes) AS DOUBLE) AS bytes FROM duckdb_memory()')
    return row?.bytes ?? 0
  }

  run(sql: string, params?: readonly SqlValue[]): Promise<number> {
    return this.look((connection) => onConnection(connection).run(sql, params))
  }

  rows<R extends SqlRow = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<R[]> {
    return this.look((connection) => onConnection(connection).rows<R>(sql, params))
  }

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const result = await this.look((connection) => onConnection(connection).transaction(work))
    // Stores have writers of their own.
    for (const [name, notes] of this.notes) if (!isStore(name)) notes.committed()
    return result
  }

  /** Attaches a file under a name, and creates or migrates it: true if it is new. A damaged file throws a BrokenFileError and is not changed. */
  async attach(name: string, file: string, format: FileFormat, migrating: Migrating = {}): Promise<boolean> {
    const path = this.isInMemory ? ':memory:' : resolve(this.dataDir, file)
    let isNew = this.isInMemory || !(await exists(path))
    if (!this.isInMemory && !this.isReadOnly) {
      await removeStoreCopy(path)
      this.copied.delete(name)
    }
    const isCopied = isNew && !this.isInMemory && !this.isReadOnly && (await copyEmptyFile(format, path).catch(() => false))
    try {
      await this.attachFile(name, path)
    } catch (error) {
      const newer = newerDatabase(error)
      if (newer) throw new WaymarkError('newer-format', { file: path, ...newer }, { cause: error })
      const pid = lockHolder(error)
      if (pid !== null) throw new WaymarkError('directory-locked', { dataDir: this.dataDir, pid, since: 'unknown' }, { cause: error })
      if (!isOutsideFault(error) && (await isFile(path))) throw new BrokenFileError(path, error)
      const reason = error instanceof Error ? error.message : String(error)
      throw new WaymarkError('unusable-directory', { dataDir: this.dataDir, reason }, { cause: error })
    }
    try {
      if (this.isReadOnly) await mustBeReadable(this, name, path, format)
      else if (!isCopied) isNew = await bringUpToDate(this, name, path, format, isNew, migrating)
    } catch (error) {
      await this.abandon(name)
      throw isCorruption(error) ? new BrokenFileError(path, error) : error
    }
    this.attached.set(name, path)
    if (!this.isInMemory) noteLocked(path)
    if (!this.isInMemory && !this.isReadOnly) {
      await removeOldCopies(path).catch(() => undefined)
      const notes = new BlockNotes(path)
      this.notes.set(name, notes)
      void notes.look()
    }
    return isNew
  }

  private attachFile(name: string, path: string): Promise<number> {
    const mode = this.isReadOnly ? 'READ_ONLY' : fileOptions
    return this.run(`ATTACH ${text(path)} AS ${identifier(name)} (${mode})`)
  }

  /** Does something with a file that is being attached while DuckDB does not have it open. All of it is in the file itself. */
  async whileReleased<T>(name: string, path: string, work: () => Promise<T>): Promise<T> {
    await this.checkpoint(name)
    await this.run(`DETACH ${identifier(name)}`)
    try {
      return await work()
    } finally {
      await this.attachFile(name, path)
    }
  }

  /** Attaches `projects/<id>/store.duckdb` and returns its name. The folder must exist. */
  async attachProject(id: number, migrating: Migrating = {}): Promise<string> {
    const name = projectDatabase(id)
    await this.attach(name, join('projects', String(id), 'store.duckdb'), storeFile, migrating)
    if (!this.isReadOnly) await boundDefinitions(this, `${identifier(name)}.main`)
    const [large] = await this.rows<{ value: string }>(`SELECT value FROM ${identifier(name)}.main.meta WHERE key = 'large'`)
    await this.noteLarge(name, (JSON.parse(large?.value ?? '{}') as { events?: number }).events ?? 0)
    return name
  }

  async detach(name: string): Promise<void> {
    const path = this.attached.get(name)
    if (path === undefined) return
    this.attached.delete(name)
    await this.forgetNotes(name)
    await this.run(`DETACH ${identifier(name)}`)
    await releaseLocked(path)
    await this.noteLarge(name, 0)
  }

  /**
   * Characters of the large events of a file. A scan, a checkpoint too, holds the texts of 2,048 rows of a row group. Each checkpoint begins a new row group, and
   * a later one merges small groups: with large texts in them, the merged ones could neither be read nor written any more.
   */
  async noteLarge(name: string, characters: number): Promise<void> {
    const isApart = characters > this.largeEvents
    if (isApart === this.apart.has(name)) return
    const before = this.apart.size
    if (isApart) this.apart.add(name)
    else this.apart.delete(name)
    if (before === 0 || this.apart.size === 0) await this.run(`SET GLOBAL max_vacuum_tasks = ${isApart ? 0 : usualMerges}`)
  }

  /** Releases a file that nobody uses any more, with its contents in it. In memory it stays. */
  async closeFile(name: string): Promise<void> {
    const path = this.attached.get(name)
    if (path === undefined || this.isInMemory) return
    try {
      const log = await stat(`${path}.wal`).catch(() => null)
      if (log !== null && log.size > 0) await this.writing(() => this.lastCheckpoint(name))
    } finally {
      await this.detach(name)
    }
  }

  private async forgetNotes(name: string): Promise<void> {
    const notes = this.notes.get(name)
    this.notes.delete(name)
    await notes?.close()
  }

  /** What was closed is copied whole. */
  private async removeNotes(name: string): Promise<void> {
    const notes = this.notes.get(name)
    await this.forgetNotes(name)
    await notes?.remove()
  }

  /** Releases a file without changing it, even if attaching it failed. */
  async abandon(name: string): Promise<void> {
    const path = this.attached.get(name)
    this.attached.delete(name)
    await this.forgetNotes(name)
    await this.run(`DETACH ${identifier(name)}`).catch(() => undefined)
    if (path !== undefined) await releaseLocked(path)
    await this.noteLarge(name, 0).catch(() => undefined)
  }

  /** A transaction, or a checkpoint that memory asked for, may just be ending. */
  private async lastCheckpoint(name: string, isDone = () => false): Promise<void> {
    for (const until = performance.now() + lastTransactionMs; !isDone(); await setTimeout(lookAgainMs)) {
      try {
        return await this.checkpoint(name)
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw error
      }
    }
  }

  /** Checkpoint: moves the contents of the write-ahead log into the file. Throws `FileIsBusy` while it is written. */
  async checkpoint(name: string): Promise<void> {
    if (this.isInMemory || this.isReadOnly) return
    await this.gate.checkpoint(name, () => this.look((connection) => this.background.run(connection, `CHECKPOINT ${identifier(name)}`)))
    await this.notes.get(name)?.look()
  }

  /** A checkpoint, before records are removed from the log that it holds. Rejects while a copy may replace the file: the copy needs these records. */
  async makeDurable(name: string): Promise<void> {
    if (this.copied.has(name)) throw new Error(`A copy of ${name} lacks records of the log`)
    await this.lastCheckpoint(name)
  }

  /** Whether the log must keep what a copy of the file lacks. */
  keepLog(name: string, isCopied: boolean): void {
    if (isCopied) this.copied.add(name)
    else this.copied.delete(name)
  }

  /** Replaces the file of a project that is closed by its copy. */
  async replaceProject(id: number): Promise<void> {
    const name = projectDatabase(id)
    if (this.attached.has(name) || !this.copied.has(name)) throw new Error(`Project ${id} is open, or has no copy that is complete`)
    await replaceByCopy(join(this.dataDir, 'projects', String(id), 'store.duckdb'))
    this.copied.delete(name)
  }

  /** Everything that is committed is in the file itself when it resolves. A writer that never rests does the checkpoint between two of its transactions. */
  async settle(name: string): Promise<void> {
    if (!this.attached.has(name) || this.isInMemory || this.isReadOnly) return
    this.wanted.add(name)
    try {
      await this.lastCheckpoint(name, () => !this.wanted.has(name))
    } finally {
      this.wanted.delete(name)
    }
  }

  /** After a commit into one of the files. */
  committed(name: string): void {
    this.notes.get(name)?.committed()
  }

  /** A checkpoint if the write-ahead log is this large (default: a commit would soon do it), or somebody waits for it. */
  async checkpointEarly(name: string, mostBytes = checkpointBytes(this.memoryLimit) * shareOfEarly): Promise<void> {
    const path = this.attached.get(name)
    if (path === undefined || this.isInMemory || this.isReadOnly) return
    if (this.wanted.has(name)) {
      await this.checkpoint(name)
      this.wanted.delete(name)
      return
    }
    const log = await stat(`${path}.wal`).catch(() => null)
    if (log !== null && log.size > mostBytes) await this.checkpoint(name)
  }

  /** Bytes of the write-ahead logs of all files, whose contents are in memory as well. */
  private async walSizes(): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
    const sizes = [...this.attached].map(async ([name, path]) => ({
      name,
      bytes: (await stat(`${path}.wal`).catch(() => null))?.size ?? 0,
    }))
    return Promise.all(sizes)
  }

  /** After a commit: checkpoints the files with the largest write-ahead logs while all of them together are too large. Once at a time, and not often. */
  async checkpointLargest(): Promise<void> {
    if (this.isInMemory || this.isReadOnly || this.isLooking || performance.now() - this.lookedAt < betweenLooksMs) return
    this.isLooking = true
    try {
      const largestFirst = [...(await this.walSizes())].sort((a, b) => b.bytes - a.bytes)
      let sum = largestFirst.reduce((total, { bytes }) => total + bytes, 0)
      for (const { name, bytes } of largestFirst) {
        if (sum <= checkpointBytes(this.memoryLimit) * shareOfEarly) break
        // One that is being written cannot be checkpointed: it does it itself, or the next look finds it idle.
        if (
          await this.checkpoint(name).then(
            () => true,
            () => false,
          )
        )
          sum -= bytes
      }
    } finally {
      this.lookedAt = performance.now()
      this.isLooking = false
    }
  }

  /** Detaches a project's store and removes its whole folder. */
  async dropProject(id: number): Promise<void> {
    await this.detach(projectDatabase(id))
    if (!this.isInMemory) await rm(join(this.dataDir, 'projects', String(id)), { recursive: true, force: true })
  }

  /** Waits for running statements, checkpoints, and releases all files; then throws the first error. Owned connections must be closed before. */
  async close(): Promise<void> {
    this.idle.close()
    await Promise.all([this.pool.close(), this.quick.close()])
    for (const end of this.readers) await end()
    const connection = await this.database.connect()
    const failures: unknown[] = []
    for (const name of this.attached.keys()) {
      try {
        if (!this.isInMemory && !this.isReadOnly) {
          await connection.run(`CHECKPOINT ${identifier(name)}`)
        }
        await this.removeNotes(name)
        await connection.run(`DETACH ${identifier(name)}`)
      } catch (error) {
        failures.push(error)
      }
    }
    connection.closeSync()
    this.forgetAtExit()
    this.database.closeSync()
    for (const path of this.attached.values()) await releaseLocked(path)
    this.attached.clear()
    if (failures.length > 0) throw failures[0]
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof FileIsBusy || (error instanceof Error && /Cannot CHECKPOINT: there are other write transactions/.test(error.message))

export const projectDatabase = (id: number): string => `p${id}`
const isStore = (name: string): boolean => /^p\d+$/.test(name)

/** The statement port on one connection. */
const onConnection = (connection: DuckDBConnection): Sql => {
  const port: Sql = {
    run: async (sql, params) => (await connection.run(sql, params && [...params])).rowsChanged,
    rows: async <R extends SqlRow>(sql: string, params?: readonly SqlValue[]) => {
      const result = await connection.run(sql, params && [...params])
      return (await result.getRowObjectsJS()) as R[]
    },
    transaction: async (work) => {
      await connection.run('BEGIN')
      try {
        const answer = await work(port)
        await connection.run('COMMIT')
        return answer
      } catch (error) {
        await connection.run('ROLLBACK').catch(() => undefined) // a failed COMMIT has rolled back already
        throw error
      }
    },
  }
  return port
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

async function mustBeReadable(instance: Instance, name: string, path: string, format: FileFormat): Promise<void> {
  if ((await tablesOf(instance, name)).length > 0) await formatOf(instance, name, path, format)
}

/** True: it was empty. */
async function bringUpToDate(
  instance: Instance,
  name: string,
  path: string,
  format: FileFormat,
  isNew: boolean,
  migrating: Migrating,
): Promise<boolean> {
  const isEmpty = isNew || (await tablesOf(instance, name)).length === 0
  if (isEmpty) {
    await runAll(instance, format.create(name))
  } else {
    const found = await formatOf(instance, name, path, format)
    if (found === format.version) return false
    await migrate(instance, name, path, format, found, migrating)
  }
  // DDL does not stay in the write-ahead log, where its replay is at its weakest.
  await instance.checkpoint(name)
  return isEmpty
}

/** The row of `meta` that a file has while its steps are not all done: the format that it had before the first one. */
const formatBefore = 'format_before'

/** Each step is a transaction, so a process that ends in between goes on with the next step, and the copy is of the file before the first one. */
async function migrate(
  instance: Instance,
  name: string,
  path: string,
  format: FileFormat,
  found: number,
  { keepsCopy = true, notice = () => undefined, progressMs = 10_000 }: Migrating,
): Promise<void> {
  const meta = `${identifier(name)}.main.meta`
  const [row] = await instance.rows<{ value: string }>(`SELECT value FROM ${meta} WHERE key = '${formatBefore}'`)
  const before = row === undefined ? found : Number(row.value)
  const steps = format.migrations.filter((migration) => migration.to > found)
  let done = 0
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const formats = { file: path, from: found, to: format.version }
  const said = setInterval(
    () => notice({ kind: 'store-migration-progress', ...formats, done, steps: steps.length, seconds: seconds() }),
    progressMs,
  ).unref()
  try {
    const keptAs = keepsCopy && !instance.isInMemory ? await copyBefore(instance, name, path, { before, found, to: format.version }) : null
    const change: FormatChange = { ...formats, keptAs }
    notice({ kind: 'store-migrating', ...change })
    for (const step of steps) {
      const remember = [
        `UPDATE ${meta} SET value = '${step.to}' WHERE key = 'format'`,
        `DELETE FROM ${meta} WHERE key = '${formatBefore}'`,
        ...(step.to < format.version ? [`INSERT INTO ${meta} VALUES ('${formatBefore}', '${before}')`] : []),
      ]
      await runAll(instance, [...step.statements(name), ...remember])
      done++
    }
    notice({ kind: 'store-migrated', ...change, seconds: seconds() })
  } finally {
    clearInterval(said)
  }
}

/** The copy of an interrupted migration is kept: the file was not used since. */
async function copyBefore(
  instance: Instance,
  name: string,
  path: string,
  { before, found, to }: { readonly before: number; readonly found: number; readonly to: number },
): Promise<string> {
  const known = keptCopyOf(path, before)
  if (before < found && (await exists(known))) return known
  const outcome = await instance.whileReleased(name, path, () => keepCopy(path, found))
  if ('keptAs' in outcome) {
    await removeOtherCopies(path, outcome.keptAs)
    return outcome.keptAs
  }
  const [needed, free] = [outcome.needed, outcome.free].map((bytes) => `${Math.ceil(bytes / 1024 ** 2)} MiB`)
  const reason =
    `${path} has format ${found}, and a copy of it is kept before it gets format ${to}, which needs ${needed} of free disk, but ${free} are free. ` +
    'Free some space, or open the directory without such copies (`serve --no-format-copies`).'
  throw new WaymarkError('unusable-directory', { dataDir: instance.dataDir, reason })
}

const tablesOf = (instance: Instance, name: string) =>
  instance.rows('SELECT table_name FROM duckdb_tables() WHERE database_name = $1', [name])

const runAll = (instance: Instance, statements: readonly string[]) => instance.transaction((sql) => sql.run(statements.join(';\n')))

async function formatOf(instance: Instance, name: string, path: string, { version }: FileFormat): Promise<number> {
  const rows = await instance
    .rows<{ value: string }>(`SELECT value FROM ${identifier(name)}.main.meta WHERE key = 'format'`)
    .catch((error: unknown) => {
      throw new BrokenFileError(path, error)
    })
  const found = Number(rows[0]?.value)
  if (!Number.isInteger(found)) throw new BrokenFileError(path, 'its format version is missing')
  if (found > version) throw new WaymarkError('newer-format', { file: path, found, supported: version })
  return found
}

export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const isInMemory = options.dataDir === ':memory:'
  const dataDir = isInMemory ? ':memory:' : resolve(options.dataDir)
  const memoryLimit = options.memoryLimit === undefined ? defaultMemoryLimit() : memoryBytes(options.memoryLimit)
  const listMemory = listMemoryBytes(options.listMemory, memoryLimit)
  const threads = options.threads ?? defaultThreads()
  if (!Number.isInteger(threads) || threads < 1) {
    throw new WaymarkError('validation-failed', { message: `threads must be a whole number from 1, got ${threads}`, attr: 'threads' })
  }
  const isReadOnly = options.access === 'read'
  const stagingFolder = isInMemory ? join(tmpdir(), `waymark-${randomUUID()}`) : join(dataDir, 'staging')
  const directories = [isInMemory ? stagingFolder : dataDir, ...(options.besideDirs ?? [])]
  const database = await DuckDBInstance.create(':memory:')
  try {
    const slots = options.concurrency ?? defaultConcurrency()
    const connections = await Promise.all(Array.from({ length: options.connections ?? 2 * slots }, () => progressing(database)))
    await configure(database, { memoryLimit, threads, directories, isReadOnly, isInMemory })
    return new Instance(database, { dataDir, stagingFolder, memoryLimit, listMemory, threads, slots, connections, isReadOnly })
  } catch (error) {
    database.closeSync()
    throw error
  }
}

interface Settings {
  readonly memoryLimit: number
  readonly threads: number
  readonly directories: readonly string[]
  readonly isReadOnly: boolean
  readonly isInMemory: boolean
}

const limitSetting = (bytes: number) => `memory_limit = '${Math.floor(bytes / 1024)}KiB'`

async function configure(database: DuckDBInstance, { memoryLimit, threads, directories, isReadOnly, isInMemory }: Settings): Promise<void> {
  const connection = await database.connect()
  try {
    const freedKept = Math.ceil(memoryLimit / 24 / 1024)
    const settings = [
      limitSetting(memoryLimit),
      `threads = ${threads}`,
      `temp_directory = ${text(isInMemory || isReadOnly ? '' : join(directories[0]!, 'tmp'))}`,
      "TimeZone = 'UTC'",
      // What is freed goes back to the system soon, in a thread of its own: kept for reuse by each thread it came to half the budget on top of it.
      'allocator_background_threads = true',
      `allocator_flush_threshold = '${freedKept}KiB'`,
      `allocator_bulk_deallocation_flush_threshold = '${freedKept}KiB'`,
      // A checkpoint at every commit took a third of the time of ingestion, and the log also has the events. Until the next checkpoint the contents of the
      // write-ahead log are in memory as well.
      `checkpoint_threshold = '${Math.floor(checkpointBytes(memoryLimit) / 1024)}KiB'`,
      // In 1.5.6 it fails with an internal error where a filter below `QUALIFY row_number() … <= n` leaves a projection behind.
      "disabled_optimizers = 'top_n_window_elimination'",
      'autoinstall_known_extensions = false',
      'autoload_known_extensions = false',
      // The order matters: directories can be allowed only while external access is still on.
      `allowed_directories = [${directories.map(text).join(', ')}]`,
      'enable_external_access = false',
      "allowed_configs = ['max_vacuum_tasks', 'memory_limit']",
      'lock_configuration = true',
    ]
    // Releasing a file or exiting the process does not write it: checkpoints are explicit.
    await connection.run(['PRAGMA disable_checkpoint_on_shutdown', ...settings.map((setting) => `SET GLOBAL ${setting}`)].join(';\n'))
  } finally {
    connection.closeSync()
  }
}

/** A connection that reports the progress of its statement. This must be enabled before the configuration is locked, and only the connection itself can do it. */
async function progressing(database: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await database.connect()
  await connection.run('SET enable_progress_bar = true; SET enable_progress_bar_print = false')
  return connection
}
