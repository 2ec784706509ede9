import { type Instance, isCorruption, projectDatabase } from './duckdb/instance.ts'
import { type LogTail, openProjectStorage, type ProjectStorage, type StorageOptions } from './project-storage.ts'

export interface Opening {
  readonly hadEvents: boolean
  /** Everything is read before it is trusted. */
  readonly isThorough?: boolean
  /** The log is another process's to write. */
  readonly tail?: LogTail
}

/** Where the projects of a directory have their events. */
export interface Stores {
  open(id: number, about: Opening): Promise<ProjectStorage>
  /** What the store of a project that is open has is on the disk from here on. */
  makeDurable(id: number): Promise<void>
  drop(id: number): Promise<void>
  /** Whether an error means that a file is damaged, and not that it was not accessible. */
  isDamage(error: unknown): boolean
  /** Lets go of what they share, when all are closed. */
  close(): Promise<void>
}

/** A file for each project, all on one instance of DuckDB. */
export const duckdbStores = (instance: Instance, options: StorageOptions): Stores => ({
  open: (id, { hadEvents, isThorough = options.isThorough, tail }) =>
    openProjectStorage(instance, id, { ...options, isThorough, ...(tail ? { tail } : {}) }, hadEvents),
  makeDurable: (id) => instance.checkpoint(projectDatabase(id)),
  drop: (id) => instance.dropProject(id),
  isDamage: isCorruption,
  close: async () => undefined, // the owner of the instance closes it
})
