import { randomUUID } from 'node:crypto'
import { type FileHandle, link, open, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders } from '../../../engine/storage/files/make-folders.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import type { Place } from './place.ts'

const isError = (error: unknown, ...codes: readonly string[]): boolean => codes.includes((error as NodeJS.ErrnoException).code ?? '')

export const refusedBy =
  (folder: string) =>
  (cause: NodeJS.ErrnoException): never => {
    throw new WaymarkError('command-failed', { message: `${folder} cannot be written to: ${cause.message}` }, { cause })
  }

/** A folder of a disk, or of a file system in the network. */
export function folderPlace(folder: string): Place {
  const pathOf = (name: string) => join(folder, ...name.split('/'))
  return {
    name: folder,

    async create(name, bytes) {
      const path = pathOf(name)
      await makeFolders(dirname(path)).catch(refusedBy(folder))
      const unfinished = `${path}.${randomUUID()}.new`
      try {
        const file = await open(unfinished, 'wx', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        await link(unfinished, path) // unlike a renaming, it fails if the name is taken
      } catch (error) {
        return isError(error, 'EEXIST') ? false : refusedBy(folder)(error as NodeJS.ErrnoException)
      } finally {
        await rm(unfinished, { force: true })
      }
      await syncFolder(dirname(path))
      return true
    },

    async read(name, range) {
      let file: FileHandle
      try {
        file = await open(pathOf(name), 'r')
      } catch (error) {
        if (isError(error, 'ENOENT', 'ENOTDIR')) return null
        throw error
      }
      try {
        if (!range) return await file.readFile()
        const bytes = Buffer.alloc(range.bytes)
        const { bytesRead } = await file.read(bytes, 0, range.bytes, range.from)
        return bytes.subarray(0, bytesRead)
      } finally {
        await file.close()
      }
    },

    async list(name) {
      const names = await readdir(pathOf(name)).catch((error: unknown) => {
        if (isError(error, 'ENOENT', 'ENOTDIR')) return []
        throw error
      })
      return names
        .filter((one) => !one.endsWith('.new'))
        .sort()
        .map((one) => `${name}/${one}`)
    },

    remove: (name) => rm(pathOf(name), { force: true }),
    close: async () => undefined,
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
