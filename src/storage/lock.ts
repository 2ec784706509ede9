import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { WaymarkError } from '../errors/errors.ts'

// One process owns a data directory. The lock file says who and since when, and that outlives a crash; DuckDB's own lock on control.duckdb is the
// second guard, and the only one between containers whose process ids mean nothing to each other.

interface Owner {
  readonly pid: number
  /** When the process started, in the system's own words: a process id alone comes back after a restart. */
  readonly started: string | null
  readonly boot: string | null
  readonly host: string
  readonly since: string
}

export interface Lock {
  /** The owner before did not close the directory: it crashed or was killed. */
  readonly wasStale: boolean
  /** `isClean` false: the directory could not be closed as it should be, so the next owner is told that the lock was stale. */
  release(isClean?: boolean): Promise<void>
}

const lockName = 'waymark.lock'

const readOrNull = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

const startOf = (pid: number): string | null => {
  const stat = readOrNull(`/proc/${pid}/stat`)
  if (stat !== null) return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null // field 22; the name before may hold spaces
  if (process.platform === 'linux' || process.platform === 'win32') return null
  return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || null
}

const bootId = () => readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? null

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const isAlive = (owner: Owner): boolean => {
  if (owner.host !== hostname() || owner.boot !== bootId() || !isRunning(owner.pid)) return false
  const started = startOf(owner.pid)
  return started === null || owner.started === null || started === owner.started
}

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
    const handle = await open(path, 'wx')
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

/** A lock that is being written has no text yet; one that stays so was left by a crash. */
const readLock = async (path: string): Promise<string | null> => {
  for (let attempt = 0; ; attempt++) {
    const text = await readFile(path, 'utf8').catch(() => null)
    if (text === null || parse(text) || attempt === 5) return text
    await setTimeout(20)
  }
}

export async function lockDirectory(dataDir: string): Promise<Lock> {
  const path = join(dataDir, lockName)
  const me: Owner = { pid: process.pid, started: startOf(process.pid), boot: bootId(), host: hostname(), since: new Date().toISOString() }
  const mine = `${JSON.stringify(me)}\n`
  let wasStale = false
  while (!(await create(path, mine))) {
    const found = await readLock(path)
    if (found === null) continue // released a moment ago
    const owner = parse(found)
    if (owner && isAlive(owner)) throw new WaymarkError('directory-locked', { dataDir, pid: owner.pid, since: owner.since })
    // Two may find the same stale lock. Only one can move it; the other one moves the winner's and gives it back.
    const aside = `${path}.${process.pid}.${Date.now()}`
    await rename(path, aside).catch(() => undefined)
    const moved = await readFile(aside, 'utf8').catch(() => null)
    if (moved !== null && moved !== found) await rename(aside, path)
    else await rm(aside, { force: true })
    wasStale = true
  }
  return {
    wasStale,
    async release(isClean = true) {
      if ((await readFile(path, 'utf8').catch(() => null)) !== mine) return
      if (isClean) await rm(path, { force: true })
      else await writeFile(path, JSON.stringify({ ...me, boot: 'over' } satisfies Owner))
    },
  }
}
