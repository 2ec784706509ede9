import { type Instance, isCorruption } from './duckdb/instance.ts'
import { openProjectStorage, type ProjectStorage, type StorageOptions } from './project-storage.ts'

/** Where the projects of a directory have their events. */
export interface Stores {
  /** `isThorough`: everything is read before it is trusted. */
  open(id: number, about: { readonly hadEvents: boolean; readonly isThorough?: boolean }): Promise<ProjectStorage>
  drop(id: number): Promise<void>
  /** Whether a failure says that something on the disk is damaged, and not that it could not be reached. */
  isDamage(error: unknown): boolean
  /** Lets go of what they share, when all are closed. */
  close(): Promise<void>
}

/** A file for each project, all on one instance of DuckDB. */
export const duckdbStores = (instance: Instance, options: StorageOptions): Stores => ({
  open: (id, { hadEvents, isThorough = options.isThorough }) => openProjectStorage(instance, id, { ...options, isThorough }, hadEvents),
  drop: (id) => instance.dropProject(id),
  isDamage: isCorruption,
  close: async () => undefined, // the instance is closed by whoever opened it
})
