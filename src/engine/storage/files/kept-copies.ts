import { constants, type Dirent } from 'node:fs'
import { chmod, copyFile, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

// A copy of a database file beside it, made before its format changes: `store.duckdb.format-6`. An older version of Waymark opens it under the name of the file.

/** How long a copy is kept. */
const keptCopyDays = 14
const keptMs = keptCopyDays * 86_400_000

/** Bytes that stay free on the disk beside a copy. */
const spareBytes = 64 * 1024 ** 2

export const keptCopyOf = (path: string, format: number): string => `${path}.format-${format}`

export type CopyOutcome = { readonly keptAs: string } | { readonly needed: number; readonly free: number }

/** Copies a file that no process has open. Blocks are shared with the file where the file system can do that; elsewhere it needs the space twice. */
export async function keepCopy(path: string, format: number): Promise<CopyOutcome> {
  const keptAs = keptCopyOf(path, format)
  const unfinished = `${keptAs}.new`
  try {
    await rm(unfinished, { force: true })
    const isShared = await copyFile(path, unfinished, constants.COPYFILE_FICLONE_FORCE).then(
      () => true,
      () => false,
    )
    if (!isShared) {
      await rm(unfinished, { force: true })
      const [{ size }, disk] = await Promise.all([stat(path), statfs(dirname(path))])
      const [needed, free] = [size + spareBytes, disk.bavail * disk.bsize]
      if (free < needed) return { needed, free }
      await copyFile(path, unfinished)
    }
    await chmod(unfinished, 0o600)
    await sync(unfinished)
    await rename(unfinished, keptAs)
    await sync(dirname(path))
    return { keptAs }
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const copiesOf = async (path: string): Promise<string[]> => {
  const entries = await readdir(dirname(path), { withFileTypes: true }).catch((): Dirent[] => [])
  const start = `${basename(path)}.format-`
  return entries
    .filter((entry) => entry.isFile() && entry.name.startsWith(start) && /^\d+(\.new)?$/.test(entry.name.slice(start.length)))
    .map(({ name }) => join(dirname(path), name))
}

/** Removes copies that are old enough, and unfinished ones. */
export async function removeOldCopies(path: string, now = Date.now()): Promise<void> {
  for (const copy of await copiesOf(path)) {
    const found = await stat(copy).catch(() => null)
    if (found && (copy.endsWith('.new') || now - found.mtimeMs > keptMs)) await rm(copy, { force: true })
  }
}

/** Before another copy is made: of one file only the newest is kept. */
export async function removeOtherCopies(path: string, kept: string): Promise<void> {
  for (const copy of await copiesOf(path)) if (copy !== kept) await rm(copy, { force: true })
}
