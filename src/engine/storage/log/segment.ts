import { type FileHandle, open, readdir } from 'node:fs/promises'
import { type FrameHead, frameHead, headLength, isIntact, nextCandidate, segmentHeader } from './frame.ts'
import type { LogDamage } from './log.ts'

export interface Segment {
  readonly path: string
  readonly firstSeq: number
  bytes: number
}

/** Segments are named after the number of their first record. */
export const segmentName = (firstSeq: number): string => `${String(firstSeq).padStart(12, '0')}.arrow`

export async function listSegments(directory: string): Promise<{ name: string; firstSeq: number }[]> {
  const names = await readdir(directory)
  return names
    .filter((name) => /^\d{12,}\.arrow$/.test(name))
    .map((name) => ({ name, firstSeq: Number.parseInt(name, 10) }))
    .sort((a, b) => a.firstSeq - b.firstSeq)
}

export interface Frame extends FrameHead {
  readonly offset: number
  readonly bytes: Buffer
}
/** Bytes that are not a frame, up to `end`: the next complete frame, or the end of the file. */
export interface Gap {
  readonly offset: number
  readonly end: number
}

const window = 1 << 20

/** Reads a file through a window. Returned views stay valid. */
class Source {
  private buffer = Buffer.alloc(0)
  private start = 0
  private readonly handle: FileHandle
  readonly size: number

  constructor(handle: FileHandle, size: number) {
    this.handle = handle
    this.size = size
  }

  /** Null if the file ends before. */
  async view(offset: number, length: number): Promise<Buffer | null> {
    if (offset + length > this.size) return null
    if (offset < this.start || offset + length > this.start + this.buffer.length) {
      this.buffer = Buffer.allocUnsafe(Math.min(Math.max(length, window), this.size - offset))
      this.start = offset
      let filled = 0
      while (filled < this.buffer.length) {
        const { bytesRead } = await this.handle.read(this.buffer, filled, this.buffer.length - filled, offset + filled)
        if (bytesRead === 0) return null
        filled += bytesRead
      }
    }
    return this.buffer.subarray(offset - this.start, offset - this.start + length)
  }
}

async function frameAt(source: Source, offset: number): Promise<Frame | null> {
  const prefix = await source.view(offset, 8)
  const length = prefix && headLength(prefix)
  const bytes = length ? await source.view(offset, length) : null
  const head = bytes && frameHead(bytes)
  const frame = head ? await source.view(offset, head.frameBytes) : null
  return head && frame && isIntact(frame, head.headBytes) ? { ...head, offset, bytes: frame } : null
}

async function findFrame(source: Source, from: number): Promise<number> {
  for (let offset = from; offset < source.size; ) {
    const length = Math.min(4 * window, source.size - offset)
    const bytes = await source.view(offset, length)
    if (!bytes) break
    let candidate = nextCandidate(bytes, 0)
    while (candidate !== null) {
      if (await frameAt(source, offset + candidate)) return offset + candidate
      candidate = nextCandidate(bytes, candidate + 1)
    }
    if (offset + length >= source.size) break
    offset += 3 * window // a head is at most one window long: the overlap keeps those on the border
  }
  return source.size
}

/** The contents of a segment from `start` to `size`: complete frames, and the gaps between them. */
export async function* scan(handle: FileHandle, start: number, size: number): AsyncGenerator<Frame | Gap> {
  const source = new Source(handle, size)
  let offset = start
  while (offset < size) {
    const frame = await frameAt(source, offset)
    if (frame) {
      yield frame
      offset += frame.frameBytes
    } else {
      const end = await findFrame(source, offset + 8)
      yield { offset, end }
      offset = end
    }
  }
}

export const isFrame = (found: Frame | Gap | LogDamage): found is Frame => 'bytes' in found

/** The batches of a segment with records from `seq` up to `end` (exclusive), and the ranges where some of those cannot be read. */
export async function* walkSegment(
  segment: Segment | undefined,
  directory: string,
  seq: number,
  end: number,
  /** The offset to start reading: a frame starts there, and no frame before it is needed. */
  offset = segmentHeader().length,
): AsyncGenerator<Frame | LogDamage> {
  let next = seq
  for await (const frame of segment ? wholeFrames(segment, seq, end, offset) : []) {
    if (frame.firstSeq > next) yield { file: segment!.path, offset: frame.offset, fromSeq: next, toSeq: frame.firstSeq - 1 }
    yield frame
    next = frame.firstSeq + frame.rows
  }
  if (next < end) yield { file: segment?.path ?? directory, offset: segment?.bytes ?? 0, fromSeq: next, toSeq: end - 1 }
}

async function* wholeFrames(segment: Segment, seq: number, end: number, offset: number): AsyncGenerator<Frame> {
  const handle = await open(segment.path, 'r')
  try {
    let next = seq
    for await (const found of scan(handle, offset, segment.bytes)) {
      if (!isFrame(found) || found.firstSeq + found.rows <= next) continue
      // Data after a failed write that could not be truncated: the next segment has the same numbers again.
      if (found.firstSeq >= end) return
      next = found.firstSeq + found.rows
      yield found
      if (next >= end) return
    }
  } finally {
    await handle.close()
  }
}
