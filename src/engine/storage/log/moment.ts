import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryOf } from './compressing.ts'
import { disk } from './disk.ts'
import { decodeFrame, segmentHeader } from './frame.ts'
import { type Frame, isFrame, listSegments, type SegmentBytes, scan, withSegment } from './segment.ts'

/** Where a log ends that was cut. */
export interface LogEnd {
  /** The last record that is left; 0: none is. */
  readonly lastSeq: number
}

/** What comes after it: records that arrived later than a time in milliseconds, or that have a larger number. */
export type Cut = { readonly time: number } | { readonly seq: number }

const isBehind = (frame: Frame, cut: Cut): boolean =>
  'seq' in cut ? frame.firstSeq > cut.seq : decodeFrame(frame.bytes).receivedAt > cut.time

/** Removes the records that come after the cut, and all that follow them. No process may have the log open. */
export async function cutLog(directory: string, cut: Cut): Promise<LogEnd> {
  const segments = await listSegments(directory)
  const header = segmentHeader().length
  for (const [i, { name, firstSeq }] of segments.entries()) {
    const next = segments[i + 1]
    const following = next && (await firstFrame(join(directory, next.name)))
    if (following && !isBehind(following, cut)) continue
    const path = join(directory, name)
    const found = await endBefore(path, cut, firstSeq)
    if (found.bytes !== null) {
      for (const later of segments.slice(i + 1)) await rm(join(directory, later.name))
      await disk.syncDirectory(directory)
      await cutSegment(path, Math.max(found.bytes, header))
      return { lastSeq: found.lastSeq }
    }
    if (!next) return { lastSeq: found.lastSeq }
  }
  return { lastSeq: 0 }
}

const cutSegment = (path: string, end: number): Promise<void> =>
  withSegment(path, async (bytes) => {
    if (!bytes.isCompressed) return truncateDurably(path, end)
    await writePlain(temporaryOf(path), bytes, end)
    await rename(temporaryOf(path), path)
    await disk.syncDirectory(dirname(path))
  })

/** A power cut would bring back what was not synced away. */
async function truncateDurably(path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.truncate(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const pieceBytes = 1024 ** 2

/** The beginning of a compressed segment, as a plain one that can be written to. */
async function writePlain(path: string, bytes: SegmentBytes, end: number): Promise<void> {
  const handle = await open(path, 'w', 0o600)
  try {
    for (let at = 0; at < end; at += pieceBytes) {
      const piece = Buffer.alloc(Math.min(pieceBytes, end - at))
      await bytes.read(piece, at)
      await disk.write(handle, [piece], at)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const firstFrame = (path: string): Promise<Frame | null> =>
  withSegment(path, async (bytes) => {
    for await (const found of scan(bytes, segmentHeader().length)) if (isFrame(found)) return found
    return null
  })

/** `bytes`: where the first record starts that comes after the cut; null if none does. */
const endBefore = (path: string, cut: Cut, firstSeq: number): Promise<LogEnd & { readonly bytes: number | null }> =>
  withSegment(path, async (bytes) => {
    let lastSeq = firstSeq - 1
    for await (const found of scan(bytes, segmentHeader().length)) {
      if (!isFrame(found)) continue
      if (isBehind(found, cut)) return { lastSeq, bytes: found.offset }
      lastSeq = found.firstSeq + found.rows - 1
    }
    return { lastSeq, bytes: null }
  })
