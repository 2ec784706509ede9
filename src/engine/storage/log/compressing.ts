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

/** Blocks of a step: those of a log that is behind are many, because each step waits several times for the turn of a busy process. */
const blocksOfStep = (isBehind: boolean) => (isBehind ? 32 : 1)

interface PlainBlock {
  readonly bytes: Buffer
  readonly offset: number
}

/** Works on all blocks, some at a time, when others have had their time. */
async function eachStep(
  plain: SegmentBytes,
  path: string,
  parts: CompressingParts,
  work: (blocks: readonly PlainBlock[]) => Promise<boolean>,
): Promise<boolean> {
  const { limit, calm, isBehind, signal } = parts
  for (let offset = 0; offset < plain.size; ) {
    const begin = offset
    const bytes = Math.min(blocksOfStep(isBehind()) * blockBytes, plain.size - begin)
    if (!isBehind()) await unlessAborted(signal, calm())
    const took = await unlessAborted(
      signal,
      limit(path, async () => {
        if (signal.aborted) return null
        const begun = performance.now()
        const step = Buffer.allocUnsafe(bytes)
        if (!(await plain.read(step, begin))) throw new Error('it became shorter')
        return (await work(blocksIn(step, begin))) ? performance.now() - begun : null
      }),
    )
    if (took === null) return false
    offset += bytes
    await unlessAborted(signal, pause(isBehind() ? 0 : took))
  }
  return true
}

function blocksIn(step: Buffer, begin: number): readonly PlainBlock[] {
  const blocks: PlainBlock[] = []
  for (let at = 0; at < step.length; at += blockBytes) blocks.push({ bytes: step.subarray(at, at + blockBytes), offset: begin + at })
  return blocks
}

async function writeBlocks(handle: FileHandle, plain: SegmentBytes, path: string, parts: CompressingParts): Promise<number | null> {
  const { disk, minFreeBytes, signal } = parts
  let size = 0
  let seen = 0
  const isWorthwhile = await eachStep(plain, path, parts, async (blocks) => {
    const members = await Promise.all(blocks.map((block) => compressBlock(block.bytes, { offset: block.offset, total: plain.size })))
    const member = members.flat()
    const bytes = member.reduce((sum, part) => sum + part.length, 0)
    const free = await disk.freeBytes(dirname(path))
    if (free - bytes < minFreeBytes) throw new WaymarkError('disk-full', { free, floor: minFreeBytes })
    if (signal.aborted) return false
    await disk.write(handle, member, size)
    size += bytes
    // What is encrypted or compressed already shows in the first block.
    seen += blocks.reduce((sum, block) => sum + block.bytes.length, 0)
    return size <= seen * worthwhile
  })
  return isWorthwhile ? size : null
}

/** The plain one goes only when it can be read back. */
const mustEqual = (temporary: string, plain: SegmentBytes, parts: CompressingParts): Promise<void> =>
  withSegment(temporary, async (compressed) => {
    if (compressed.size !== plain.size) throw new Error('it cannot be read back')
    await eachStep(plain, temporary, parts, async (blocks) => {
      await compressed.locate?.(blocks.at(-1)!.offset)
      const isSame = async ({ bytes, offset }: PlainBlock) => {
        const again = Buffer.allocUnsafe(bytes.length)
        return (await compressed.read(again, offset)) && again.equals(bytes)
      }
      if ((await Promise.all(blocks.map(isSame))).includes(false)) throw new Error('it cannot be read back')
      return true
    })
  })
