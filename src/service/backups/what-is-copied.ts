import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { notesName } from './writer-notes.ts'

// Which files of a directory a copy has. What is not named here is copied: a folder that a later version adds must not be missing from a backup.

const leftOut = {
  directory: [
    'waymark.lock',
    'server.json',
    'owner.json',
    'cookieless', // salts, which must not outlive three days
    'staging',
    'tmp',
    'downloads',
    'lost+found',
    'attached', // copies of what the operator attaches
    'projects', // each by itself
    notesName,
  ],
  project: [
    'log', // by itself
    'core', // made from the events
    'uuids', // indexes
    'ids',
    'answers', // kept for ten minutes
    'applying.json', // of a process
    'log.position',
    'backed-up',
    'copied',
  ],
} as const

/** What a write has not finished, what is in the way of a repair, and what a checkpoint has moved into its file. */
const isTransient = (name: string): boolean => /\.new$|\.wal$|\.blocks$|\.broken-|\.format-\d+$|^waymark\.lock/.test(name)

/** Paths with slashes, sorted. */
export async function filesIn(folder: string, of: keyof typeof leftOut): Promise<string[]> {
  const left: ReadonlySet<string> = new Set(leftOut[of])
  const found: string[] = []
  const walk = async (path: string): Promise<void> => {
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    for (const entry of entries) {
      const name = path === '' ? entry.name : `${path}/${entry.name}`
      if (left.has(name) || isTransient(entry.name)) continue
      if (entry.isDirectory()) await walk(name)
      else if (entry.isFile()) found.push(name)
    }
  }
  await walk('')
  return found.sort()
}
