import { open, readFile, rm } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { serverMemory } from '../../../engine/storage/open-stores.ts'
import { bytesText } from '../../../lib/text/bytes-text.ts'

// What the machine, or the container, offers a server, and what of it will hurt.

export interface DiskSpeed {
  /** Milliseconds of a small write that is synced, the median and the slowest. */
  readonly syncMs: number
  readonly slowestSyncMs: number
  readonly bytesPerSecond: number
}

export interface HostFacts {
  readonly cores: number
  /** Bytes of the machine. */
  readonly memory: number
  /** Bytes that the container may use; null: all. */
  readonly memoryLimit: number | null
  /** Files and connections that a process may have open; null: unknown. */
  readonly openFiles: number | null
  readonly now: number
  /** When the newest file of the directory was written; null: there is none. */
  readonly newestFileAt: number | null
  /** Absent: it was not measured. */
  readonly disk?: DiskSpeed
}

export interface HostLine {
  readonly text: string
  readonly isWarning: boolean
}

const mebibyte = 1024 ** 2
const leastMemory = 1024 * mebibyte
const leastOpenFiles = 4096
const mostAheadMs = 5 * 60_000
/** No release of Waymark is older. */
const firstRelease = Date.UTC(2026, 0, 1)
const mostSyncMs = 20
const leastBytesPerSecond = 50 * mebibyte

const good = (text: string): HostLine => ({ text, isWarning: false })
const warning = (text: string): HostLine => ({ text, isWarning: true })
const time = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`
const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

function memoryLine({ cores, memory, memoryLimit }: HostFacts): HostLine {
  const usable = memoryLimit === null ? memory : Math.min(memory, memoryLimit)
  const { memoryLimit: store, listMemory } = serverMemory(usable)
  const where = memoryLimit === null ? 'memory' : `memory (the limit of the container; the machine has ${bytesText(memory)})`
  const use = `${cores} ${cores === 1 ? 'core' : 'cores'}, ${bytesText(usable)} of ${where}: a server uses up to ${bytesText(store)} for stores and ${bytesText(listMemory)} for lists`
  return usable < leastMemory ? warning(`${use}. It needs 1 GiB: with less, large queries are refused and it may be killed`) : good(use)
}

function openFilesLine({ openFiles }: HostFacts): readonly HostLine[] {
  if (openFiles === null) return []
  const text = `${Number.isFinite(openFiles) ? openFiles.toLocaleString('en') : 'any number of'} open files`
  if (openFiles >= leastOpenFiles) return [good(text)]
  return [
    warning(
      `${text}: many connections and projects need ${leastOpenFiles.toLocaleString('en')}. Set LimitNOFILE (systemd), ulimits (compose) or ulimit -n`,
    ),
  ]
}

function clockLine({ now, newestFileAt }: HostFacts): HostLine {
  const text = `the clock says ${time(now)}`
  if (now < firstRelease)
    return warning(`${text}, which is long ago: events without a time get this one, and sessions and certificates fail`)
  if (newestFileAt !== null && newestFileAt - now > mostAheadMs)
    return warning(
      `${text}, but a file of the directory was written at ${time(newestFileAt)}: the clock was set back, or it is another one than that of the disk`,
    )
  return good(text)
}

function diskLine({ disk }: HostFacts): readonly HostLine[] {
  if (!disk) return []
  const text = `a synced write takes ${ms(disk.syncMs)}, ${ms(disk.slowestSyncMs)} at most; ${bytesText(disk.bytesPerSecond)} a second are written`
  const slow = disk.syncMs > mostSyncMs || disk.bytesPerSecond < leastBytesPerSecond
  return [slow ? warning(`${text}. Each request with events waits for a sync, and checkpoints write: use a local SSD`) : good(text)]
}

/** Each fact in a line, with what to do about it where it will hurt. */
export const hostLines = (facts: HostFacts): readonly HostLine[] => [
  memoryLine(facts),
  ...openFilesLine(facts),
  clockLine(facts),
  ...diskLine(facts),
]

/** The soft limit. Null: this system does not say. */
export function openFilesIn(limits: string): number | null {
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1]
  return soft === undefined ? null : soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

export async function hostFacts(newestFileAt: number | null, disk?: DiskSpeed): Promise<HostFacts> {
  const limit = process.constrainedMemory?.() ?? 0
  const memory = totalmem()
  return {
    cores: availableParallelism(),
    memory,
    memoryLimit: limit > 0 && limit < memory ? limit : null,
    openFiles: openFilesIn(await readFile('/proc/self/limits', 'utf8').catch(() => '')),
    now: Date.now(),
    newestFileAt,
    ...(disk && { disk }),
  }
}

const syncs = 20
const smallWrite = 4096
const largeWrite = 4 * mebibyte
const largeWrites = 8

/** Writes a file of 32 MiB into a directory, and removes it. */
export async function measureDisk(directory: string): Promise<DiskSpeed> {
  const path = join(directory, '.waymark-disk-check')
  const file = await open(path, 'w', 0o600)
  try {
    const times: number[] = []
    for (let i = 0; i < syncs; i++) {
      const begun = performance.now()
      await file.write(Buffer.alloc(smallWrite, i), 0, smallWrite, i * smallWrite)
      await file.datasync()
      times.push(performance.now() - begun)
    }
    const block = Buffer.alloc(largeWrite, 1)
    const begun = performance.now()
    for (let i = 0; i < largeWrites; i++) await file.write(block, 0, largeWrite, i * largeWrite)
    await file.datasync()
    const seconds = (performance.now() - begun) / 1000
    times.sort((a, b) => a - b)
    return { syncMs: times[syncs >> 1]!, slowestSyncMs: times.at(-1)!, bytesPerSecond: (largeWrites * largeWrite) / seconds }
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
