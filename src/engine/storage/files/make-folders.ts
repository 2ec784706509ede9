import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing, for their owner only. The recursive `mkdir` of Node never ends where a file system refuses with "no such file"
 * although the folder above is there, as /proc does.
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    const above = dirname(path)
    if (code !== 'ENOENT' || above === path || (await stat(above).catch(() => null))) throw error
    await makeFolders(above)
    await mkdir(path, { mode: 0o700 })
  }
}
