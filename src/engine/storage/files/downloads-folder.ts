import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folderOf = (dataDir: string) => join(dataDir, 'downloads')

/** Where files are written before they are sent. */
export async function downloadsFolder(dataDir: string): Promise<string> {
  if (dataDir === ':memory:') return tmpdir()
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 })
  return folderOf(dataDir)
}

/** What a process that was killed has left. */
export const clearDownloads = async (dataDir: string): Promise<void> =>
  dataDir === ':memory:' ? undefined : rm(folderOf(dataDir), { recursive: true, force: true })
