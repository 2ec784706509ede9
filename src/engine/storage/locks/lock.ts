import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { WaymarkError } from '../../../errors/errors.ts'
import { mustNotBeMoved } from '../moving/mark.ts'
import { type DirectoryIdentity, directoryIdentity, isOtherDirectory } from './directory-identity.ts'
import { isAlive, isOfThisBoot, type ProcessIdentity, thisProcess } from './process-identity.ts'

// One process owns a data directory. The lock file has the owner, its start time and the directory, and outlives a crash; DuckDB's own lock on
// control.duckdb is the second guard, and the only one between containers whose process ids mean nothing to each other.

interface Owner extends ProcessIdentity {
  readonly since: string
  /** Missing in locks of older versions. */
  readonly directory?: DirectoryIdentity
  /** It no longer owns the directory, and left it in this state. */
  readonly left?: LastOwner
}

/**
 * How the last owner left the directory. `closed`: everything is in its files. `killed`: the process ended, the machine did not. `rebooted`: the machine
 * may have ended too. `copied`: the directory was copied while another process had the original open.
 */
export type LastOwner = 'closed' | 'killed' | 'rebooted' | 'copied'

export interface Lock {
  readonly lastOwner: LastOwner
  /** Any state but `closed` is reported to the next owner. */
  release(left?: LastOwner): Promise<void>
}

const lockName = 'waymark.lock'

const parse = (text: string): Owner | null => {
  try {
    const owner = JSON.parse(text) as Owner
    return Number.isInteger(owner.pid) ? owner : null
  } catch {
    return null
  }
}

const create = async (path: string, text: string): Promise<boolean> => {
  try {
    const handle = await open(path, 'wx', 0o600)
    try {
      await handle.writeFile(text)
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** A lock that is being written is still empty; one that stays empty was left by a crash. */
const readLock = async (path: string): Promise<string | null> => {
  for (let attempt = 0; ; attempt++) {
    const text = await readFile(path, 'utf8').catch(() => null)
    if (text === null || parse(text) || attempt === 5) return text
    await setTimeout(20)
  }
}

/** The state that a former owner left; a current owner is an error. */
const leftBy = (text: string, dataDir: string, here: DirectoryIdentity): LastOwner => {
  const owner = parse(text)
  if (!owner) return 'rebooted'
  if (owner.directory && isOtherDirectory(owner.directory, here)) return 'copied'
  if (owner.left) return owner.left
  if (isAlive(owner)) throw new WaymarkError('directory-locked', { dataDir, pid: owner.pid, since: owner.since })
  return isOfThisBoot(owner) ? 'killed' : 'rebooted'
}

/** The state of a directory without an owner. Changes nothing. */
/** A closed directory is about to get another name: it is the same one, no copy. */
export const forgetOwner = (dataDir: string): Promise<void> => rm(join(dataDir, lockName), { force: true })

export async function readLastOwner(dataDir: string): Promise<LastOwner> {
  const found = await readLock(join(dataDir, lockName))
  return found === null ? 'closed' : leftBy(found, dataDir, await directoryIdentity(dataDir))
}

export async function lockDirectory(dataDir: string): Promise<Lock> {
  await mustNotBeMoved(dataDir)
  const path = join(dataDir, lockName)
  const directory = await directoryIdentity(dataDir)
  const me: Owner = { ...thisProcess(), since: new Date().toISOString(), directory }
  const mine = `${JSON.stringify(me)}\n`
  let lastOwner: LastOwner = 'closed'
  while (!(await create(path, mine))) {
    const found = await readLock(path)
    if (found === null) continue // released a moment ago
    lastOwner = leftBy(found, dataDir, directory)
    // Two may find the same stale lock. Only one can move it; the other one moves the winner's and gives it back.
    const aside = `${path}.${process.pid}.${Date.now()}`
    await rename(path, aside).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    const moved = await readFile(aside, 'utf8').catch(() => null)
    if (moved !== null && moved !== found) await rename(aside, path)
    else await rm(aside, { force: true })
  }
  return {
    lastOwner,
    async release(left = 'closed') {
      if ((await readFile(path, 'utf8').catch(() => null)) !== mine) return
      if (left === 'closed') await rm(path, { force: true })
      else await writeFile(path, JSON.stringify({ ...me, left } satisfies Owner))
    },
  }
}
