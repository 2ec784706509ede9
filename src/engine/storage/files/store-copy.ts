import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

// A copy of a store without the space of deleted rows: `store.duckdb.compact.new`. It counts only for the process that made it, and only until the store is opened
// again: opening removes it. So after a crash there is one store, either the old file or the new one.

export const storeCopyOf = (path: string): string => `${path}.compact.new`

/** A write-ahead log, or notes about blocks, belong to one file. */
const beside = (path: string): readonly string[] => [`${path}.wal`, `${path}.blocks`]

export async function removeStoreCopy(path: string): Promise<void> {
  const copy = storeCopyOf(path)
  for (const file of [copy, ...beside(copy)]) await rm(file, { force: true })
}

export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export type ReplaceStep = 'begun' | 'without-notes' | 'renamed' | 'durable'

/** Replaces a store that no process has open by its copy, which is on disk. `reached` is called after each step. */
export async function replaceByCopy(path: string, reached: (step: ReplaceStep) => void = () => undefined): Promise<void> {
  const log = await stat(`${path}.wal`).catch(() => null)
  if (log !== null && log.size > 0) throw new Error(`${path} has a write-ahead log, which is not that of its copy`)
  await stat(storeCopyOf(path))
  reached('begun')
  // Notes about the old file would make a copy of the directory look torn.
  for (const file of beside(path)) await rm(file, { force: true })
  reached('without-notes')
  await rename(storeCopyOf(path), path)
  reached('renamed')
  await syncFile(dirname(path))
  reached('durable')
}
