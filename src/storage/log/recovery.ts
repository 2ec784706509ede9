import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { WaymarkError } from '../../errors/errors.ts'
import { decodeFrame, headerFormat, logFormat, segmentHeader } from './frame.ts'
import type { LogDamage, StoredBatch } from './log.ts'
import { isFrame, scan } from './segment.ts'

export interface Segment {
  readonly path: string
  readonly firstSeq: number
  bytes: number
}

/** The batches of a segment that hold records from `seq` up to, but without, `end`. Leaves out what is damaged. */
export async function* readSegment(segment: Segment, seq: number, end: number): AsyncGenerator<{ offset: number; batch: StoredBatch }> {
  const handle = await open(segment.path, 'r')
  try {
    let next = seq
    for await (const found of scan(handle, segmentHeader().length, segment.bytes)) {
      if (!isFrame(found) || found.firstSeq + found.rows <= next) continue
      // What follows a failed write that could not be taken back: the next segment has these numbers again.
      if (found.firstSeq >= end) return
      next = found.firstSeq + found.rows
      yield { offset: found.offset, batch: decodeFrame(found.bytes) }
      if (next >= end) return
    }
  } finally {
    await handle.close()
  }
}

/** Reads the newest segment to its end and cuts off what a crash left. No bytes remain of a segment that has nothing whole. */
export async function recoverTail(segment: Segment, damages: LogDamage[]): Promise<{ lastSeq: number; bytes: number }> {
  const header = segmentHeader()
  const handle = await open(segment.path, 'r+')
  try {
    const start = Buffer.alloc(Math.min(header.length, segment.bytes))
    await handle.read(start, 0, start.length, 0)
    const isWhole = start.equals(header)
    const format = isWhole ? logFormat : headerFormat(start)
    if (format !== null && format > logFormat)
      throw new WaymarkError('newer-format', { file: segment.path, found: format, supported: logFormat })
    const tail = await findTail(handle, segment, isWhole ? header.length : 0, damages)
    if (tail.bytes === 0 && isWhole) tail.bytes = header.length
    if (tail.bytes > 0) {
      if (!isWhole) await handle.write(header, 0, header.length, 0)
      if (!isWhole || tail.bytes < segment.bytes) {
        await handle.truncate(tail.bytes)
        await handle.sync()
      }
      return tail
    }
  } finally {
    await handle.close()
  }
  // Not even its header is whole. That short it was never acknowledged; longer, nobody knows, so it is kept for a look.
  if (segment.bytes <= header.length) await rm(segment.path)
  else {
    damages.push({ file: segment.path, offset: 0, fromSeq: segment.firstSeq, toSeq: null })
    await rename(segment.path, `${segment.path}.broken-${Date.now()}`)
  }
  return { lastSeq: 0, bytes: 0 }
}

/**
 * Groups are written one after the other. A gap with only its own group behind it is the work of a crash: nothing of that group was ever
 * acknowledged, and its rest goes. A gap that a later group follows was durable once: it is damage, is reported, and what is behind it stays.
 */
async function findTail(handle: FileHandle, segment: Segment, start: number, damages: LogDamage[]) {
  const frames: { offset: number; end: number; firstSeq: number; nextSeq: number; groupSeq: number }[] = []
  for await (const found of scan(handle, start, segment.bytes)) {
    if (!isFrame(found)) continue
    const { offset, firstSeq, rows, groupSeq, frameBytes } = found
    frames.push({ offset, end: offset + frameBytes, firstSeq, nextSeq: firstSeq + rows, groupSeq })
  }
  const lastGroup = frames.at(-1)?.groupSeq ?? 0
  let next = segment.firstSeq
  let bytes = 0
  for (const frame of frames) {
    if (frame.firstSeq !== next) {
      if (lastGroup <= next) break
      damages.push({ file: segment.path, offset: bytes, fromSeq: next, toSeq: frame.firstSeq - 1 })
    }
    next = frame.nextSeq
    bytes = frame.end
  }
  return { lastSeq: next - 1, bytes }
}
