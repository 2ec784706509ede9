import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolders } from '../../engine/storage/files/make-folders.ts'
import { syncFolder } from '../../engine/storage/files/sync-folder.ts'
import { isObject } from '../../lib/is-object.ts'

// Copies of what is not a folder of this machine. A copy is a folder of files, complete before the name in `copy.json` leads to it.

export interface Copy {
  readonly folder: string
  readonly copiedAt: string
}

/** What is attached cannot be copied as it is. Its message is for everybody who asks; others may name hosts and folders. */
export class CopyRefusal extends Error {
  override readonly name = 'CopyRefusal'
}

const noteName = 'copy.json'

/** The copy that was completed last. */
export async function lastCopy(home: string): Promise<Copy | null> {
  const text = await readFile(join(home, noteName), 'utf8').catch(() => null)
  if (text === null) return null
  const note = parsed(text)
  if (!isObject(note) || typeof note.folder !== 'string' || typeof note.copied_at !== 'string') return null
  return { folder: join(home, note.folder), copiedAt: note.copied_at }
}

/** A note that cannot be read is as good as none: the copy is made again. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `fill` writes the files. What a process that was killed has begun is removed; the copy before is kept until the next one, for queries that read it. */
export async function makeCopy(home: string, now: Date, fill: (folder: string) => Promise<void>): Promise<Copy> {
  await makeFolders(home)
  const before = await lastCopy(home)
  const name = randomUUID()
  const folder = join(home, name)
  for (const old of await readdir(home))
    if (old !== noteName && join(home, old) !== before?.folder) await rm(join(home, old), { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  try {
    await fill(folder)
    await syncFiles(folder)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  const copied_at = now.toISOString()
  const note = join(home, `${noteName}.new`)
  const file = await open(note, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify({ folder: name, copied_at }))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(note, join(home, noteName))
  syncFolder(home)
  return { folder, copiedAt: copied_at }
}

async function syncFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncFiles(path)
    else {
      const file = await open(path, 'r')
      await file.sync().finally(() => file.close())
    }
  }
  syncFolder(folder)
}
