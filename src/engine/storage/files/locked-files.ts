import { type FileHandle, open } from 'node:fs/promises'

// Files that DuckDB has locked in this process. Its lock is of the kind that ends when the process closes any handle of the file, so a handle that reads such a
// file stays open until DuckDB has released it.

const locked = new Map<string, Promise<FileHandle> | null>()

/** DuckDB has attached the file. */
export const noteLocked = (path: string): void => {
  if (!locked.has(path)) locked.set(path, null)
}

/** DuckDB has detached the file. */
export async function releaseLocked(path: string): Promise<void> {
  const handle = locked.get(path)
  locked.delete(path)
  await (await handle?.catch(() => null))?.close()
}

/** Reads a file that DuckDB may have open, without ending its lock. */
export async function reading<T>(path: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const known = locked.get(path)
  if (known === undefined) {
    const handle = await open(path, 'r')
    try {
      return await work(handle)
    } finally {
      // Attached meanwhile: its lock would end with this handle.
      if (locked.get(path) === null) locked.set(path, Promise.resolve(handle))
      else if (!locked.has(path)) await handle.close()
    }
  }
  const handle = known ?? open(path, 'r')
  locked.set(path, handle)
  return work(await handle)
}
