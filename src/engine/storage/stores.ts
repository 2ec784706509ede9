import { WaymarkError } from '../../errors/errors.ts'
import { MemoryShare } from '../../lib/memory/memory-share.ts'
import type { FileOfRows, ParquetOfRows } from '../execution/ports.ts'
import { type Instance, isCorruption, isInvalidated, isOutOfMemory, projectDatabase } from './duckdb/instance.ts'
import { fileOfRows } from './duckdb/writing/file-of-rows.ts'
import { parquetOfRows } from './duckdb/writing/parquet-of-rows.ts'
import type { FormatNotice } from './format.ts'
import { createBlockLimit } from './log/compressing.ts'
import { type LogTail, openProjectStorage, type ProjectStorage, type StorageOptions } from './project-storage.ts'

export interface Opening {
  readonly hadEvents: boolean
  /** Everything is verified before it is used. */
  readonly isThorough?: boolean
  /** Another process writes the log. */
  readonly tail?: LogTail
  /** Called while the format of the store changes. */
  onFormat?(notice: FormatNotice): void
  /** Called with errors that do not keep a project from being used. */
  report?(error: unknown): void
}

/** The memory of the engine did not suffice. */
export const isMemoryShort = (error: unknown): boolean =>
  (error instanceof WaymarkError && error.code === 'query-memory') ||
  isOutOfMemory(error) ||
  (error instanceof Error && error.cause !== undefined && isMemoryShort(error.cause))

/** The engine refuses a store until it is opened again. */
export const isStoreLost = isInvalidated

/** Of the memory, for indexes of distinct ids. They take no more than the ids need. */
const partOfIds = 4

/** Memory of the engine that an open project takes when it has been written to, whatever it holds. */
const bytesOfOpen = 8 * 1024 ** 2
/** Each takes a few files, too. */
const mostFiles = 200

/** Projects that may be open at a time: half of the memory is for what is done with them. */
export const mostOpenProjects = (memoryLimit: number): number => Math.min(mostFiles, Math.max(4, Math.floor(memoryLimit / 2 / bytesOfOpen)))

/** Where the projects of a directory store their events. */
export interface Stores {
  open(id: number, about: Opening): Promise<ProjectStorage>
  /** Resolves when the contents of an open project's store are durable. */
  makeDurable(id: number): Promise<void>
  /** The same, and they are in the file itself. */
  settle(id: number): Promise<void>
  /** Replaces the store of a closed project by the copy that was made of it. */
  replace(id: number): Promise<void>
  drop(id: number): Promise<void>
  /** Whether an error means that a file is damaged, rather than not accessible. */
  isDamage(error: unknown): boolean
  readonly parquetOf: ParquetOfRows
  /** Needed where the engine writes no files. */
  readonly fileOf: FileOfRows
  /** For indexes of distinct ids; absent: there are none. */
  readonly idMemory?: MemoryShare
  /** Releases shared resources after all stores are closed. */
  close(): Promise<void>
}

/** A file for each project, all on one instance of DuckDB. */
export const duckdbStores = (instance: Instance, options: StorageOptions, compression = createBlockLimit()): Stores => ({
  open: (id, { hadEvents, isThorough = options.isThorough, tail, onFormat, report }) => {
    const log = { ...options.log, compression, ...(report ? { report } : {}) }
    const given = { ...options, log, isThorough, ...(tail ? { tail } : {}), ...(onFormat ? { onFormat } : {}) }
    return openProjectStorage(instance, id, given, hadEvents)
  },
  makeDurable: (id) => instance.makeDurable(projectDatabase(id)),
  replace: (id) => instance.replaceProject(id),
  settle: (id) => instance.settle(projectDatabase(id)),
  drop: (id) => instance.dropProject(id),
  isDamage: isCorruption,
  parquetOf: parquetOfRows(instance.dataDir),
  fileOf: fileOfRows,
  idMemory: new MemoryShare(instance.memoryLimit / partOfIds),
  close: async () => undefined, // the owner of the instance closes it
})
