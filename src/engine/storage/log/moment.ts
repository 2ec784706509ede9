import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { disk } from './disk.ts'
import { decodeFrame, segmentHeader } from './frame.ts'
import { type Frame, isFrame, listSegments, scan } from './segment.ts'

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
      await truncateDurably(path, Math.max(found.bytes, header))
      return { lastSeq: found.lastSeq }
    }
    if (!next) return { lastSeq: found.lastSeq }
  }
  return { lastSeq: 0 }
}

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

async function firstFrame(path: string): Promise<Frame | null> {
  const handle = await open(path, 'r')
  try {
    for await (const found of scan(handle, segmentHeader().length, (await handle.stat()).size)) if (isFrame(found)) return found
    return null
  } finally {
    await handle.close()
  }
}

/** `bytes`: where the first record starts that comes after the cut; null if none does. */
async function endBefore(path: string, cut: Cut, firstSeq: number): Promise<LogEnd & { readonly bytes: number | null }> {
  let lastSeq = firstSeq - 1
  const handle = await open(path, 'r')
  try {
    for await (const found of scan(handle, segmentHeader().length, (await handle.stat()).size)) {
      if (!isFrame(found)) continue
      if (isBehind(found, cut)) return { lastSeq, bytes: found.offset }
      lastSeq = found.firstSeq + found.rows - 1
    }
    return { lastSeq, bytes: null }
  } finally {
    await handle.close()
  }
}
