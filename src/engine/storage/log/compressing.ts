import { type FileHandle, readdir, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../../lib/flow/concurrency-limit.ts'
import { blockBytes, compressBlock } from './compressed.ts'
import type { Disk } from './disk.ts'
import { type Segment, type SegmentBytes, withSegment } from './segment.ts'

// Compresses a closed segment: into a file beside it, which takes its place when it is durable and was compared with it. A process that is killed leaves one of the two, and perhaps the other file,
// which the next one removes.

/** A segment that is being written, and is no segment yet. */
export const temporaryOf = (path: string): string => `${path}.new`

/** What killed processes left. */
export async function leftovers(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.filter((name) => /^\d{12,}\.arrow\.new$/.test(name)).map((name) => join(directory, name))
}

/** One block at a time, whatever its log. */
export type BlockLimit = ConcurrencyLimit
export const createBlockLimit = (): BlockLimit =>
  createConcurrencyLimit({ atOnce: 1, waiting: Number.POSITIVE_INFINITY, refusal: () => new InternalError('too many logs are compressed') })

export interface CompressingParts {
  readonly disk: Disk
  /** So many bytes of the disk stay free. */
  readonly minFreeBytes: number
  readonly limit: BlockLimit
  /** Waits while batches are written, but not for long. */
  calm(): Promise<void>
  /** So much waits that it takes its share of the machine, whatever else is going on. */
  isBehind(): boolean
  readonly signal: AbortSignal
}

/** A compressed segment takes at most this part of the plain one, or the plain one stays. */
const worthwhile = 0.75
/** The longest pause after a block, which is as long as the block took. */
const longestPauseMs = 50

/** Rejects when the signal is aborted, whatever becomes of the promise. */
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Keeps no process alive: a program that has nothing else to do may end between two blocks. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void (ms < 1 ? setImmediate(resolve) : setTimeout(resolve, Math.min(ms, longestPauseMs))).unref())

/** The bytes of the compressed form, which is durable beside the plain one; null: there is nothing to gain. */
export async function compressSegment({ path, bytes }: Pick<Segment, 'path' | 'bytes'>, parts: CompressingParts): Promise<number | null> {
  const temporary = temporaryOf(path)
  await rm(temporary, { force: true })
  try {
    return await withSegment(
      path,
      async (plain) => {
        if (plain.isCompressed) return null
        const size = await writeTemporary(temporary, plain, path, parts)
        if (size === null) await rm(temporary, { force: true })
        else await mustEqual(temporary, plain, parts)
        return size
      },
      bytes,
    )
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

async function writeTemporary(temporary: string, plain: SegmentBytes, path: string, parts: CompressingParts): Promise<number | null> {
  const { disk, signal } = parts
  const handle = await disk.open(temporary, 'wx')
  try {
    const size = await writeBlocks(handle, plain, path, parts)
    if (size === null) return null
    const { atime, mtime } = await stat(path)
    await utimes(temporary, atime, mtime) // its age decides how long it stays
    await unlessAborted(signal, disk.sync(handle))
    return size
  } finally {
    const closed = handle.close().catch(() => undefined)
    if (!signal.aborted) await closed // or a sync that still runs would delay what has aborted it
  }
}

/** Works on each block when others have had their time. */
async function eachBlock(
  plain: SegmentBytes,
  path: string,
  parts: CompressingParts,
  work: (block: Buffer, offset: number) => Promise<boolean>,
): Promise<boolean> {
  const { limit, calm, isBehind, signal } = parts
  for (let offset = 0; offset < plain.size; offset += blockBytes) {
    if (!isBehind()) await unlessAborted(signal, calm())
    const took = await unlessAborted(
      signal,
      limit(path, async () => {
        if (signal.aborted) return null
        const begun = performance.now()
        const block = Buffer.allocUnsafe(Math.min(blockBytes, plain.size - offset))
        if (!(await plain.read(block, offset))) throw new Error('it became shorter')
        return (await work(block, offset)) ? performance.now() - begun : null
      }),
    )
    if (took === null) return false
    await unlessAborted(signal, pause(isBehind() ? 0 : took))
  }
  return true
}

async function writeBlocks(handle: FileHandle, plain: SegmentBytes, path: string, parts: CompressingParts): Promise<number | null> {
  const { disk, minFreeBytes, signal } = parts
  let size = 0
  const isWorthwhile = await eachBlock(plain, path, parts, async (block, offset) => {
    const member = await compressBlock(block, { offset, total: plain.size })
    const bytes = member.reduce((sum, part) => sum + part.length, 0)
    const free = await disk.freeBytes(dirname(path))
    if (free - bytes < minFreeBytes) throw new WaymarkError('disk-full', { free, floor: minFreeBytes })
    if (signal.aborted) return false
    await disk.write(handle, member, size)
    size += bytes
    // What is encrypted or compressed already shows in the first block.
    return size <= Math.min(offset + blockBytes, plain.size) * worthwhile
  })
  return isWorthwhile ? size : null
}

/** The plain one goes only when it can be read back. */
const mustEqual = (temporary: string, plain: SegmentBytes, parts: CompressingParts): Promise<void> =>
  withSegment(temporary, async (compressed) => {
    if (compressed.size !== plain.size) throw new Error('it cannot be read back')
    await eachBlock(plain, temporary, parts, async (block, offset) => {
      const again = Buffer.allocUnsafe(block.length)
      if (!(await compressed.read(again, offset)) || !again.equals(block)) throw new Error('it cannot be read back')
      return true
    })
  })
