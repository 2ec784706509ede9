import { type FileHandle, open, readdir } from 'node:fs/promises'
import { CompressedBytes } from './compressed.ts'
import { type FrameHead, formatOfHeader, frameHead, headLength, isIntact, logFormat, nextCandidate, segmentHeader } from './frame.ts'
import type { LogDamage } from './log.ts'

export interface Segment {
  readonly path: string
  readonly firstSeq: number
  /** Of the file: of the newest one, up to the last durable record. */
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

/** The plain form of a segment, whatever its file has. All offsets are offsets in it. */
export interface SegmentBytes {
  readonly size: number
  readonly isCompressed: boolean
  /** Fills a buffer from an offset on; false: the segment ends before. */
  read(into: Buffer, at: number): Promise<boolean>
  /** Finds where everything up to an offset is, so that several reads at once need not look for it. */
  locate?(at: number): Promise<void>
}

class PlainBytes implements SegmentBytes {
  readonly isCompressed = false

  constructor(
    private readonly handle: FileHandle,
    readonly size: number,
  ) {}

  async read(into: Buffer, at: number): Promise<boolean> {
    if (at + into.length > this.size) return false
    for (let filled = 0; filled < into.length; ) {
      const { bytesRead } = await this.handle.read(into, filled, into.length - filled, at + filled)
      if (bytesRead === 0) return false
      filled += bytesRead
    }
    return true
  }
}

interface Opened {
  readonly bytes: SegmentBytes
  /** What its file has. */
  readonly file: SegmentBytes
}

/** `most`: where a plain one ends; a file may have more. */
async function openedAs(handle: FileHandle, most: number): Promise<Opened> {
  const { size } = await handle.stat()
  const plain = new PlainBytes(handle, Math.min(most, size))
  const start = Buffer.alloc(Math.min(segmentHeader().length, plain.size))
  const isPlain = start.length === 0 || ((await plain.read(start, 0)) && formatOfHeader(start) !== null)
  const compressed = isPlain ? null : await CompressedBytes.open(handle, size)
  return compressed ? { bytes: compressed, file: new PlainBytes(handle, size) } : { bytes: plain, file: plain }
}

/**
 * Opens a segment. A process that compresses it meanwhile puts another file in its place, and the open one goes on. `most`: what its file had before it was opened, or less. `file` is what
 * the file has itself.
 */
export async function withSegment<T>(
  path: string,
  work: (bytes: SegmentBytes, file: SegmentBytes) => Promise<T>,
  most = Number.POSITIVE_INFINITY,
): Promise<T> {
  const handle = await open(path, 'r')
  try {
    const { bytes, file } = await openedAs(handle, most)
    return await work(bytes, file)
  } finally {
    await handle.close()
  }
}

/** Writes the header of the newest format into the newest segment: one byte of it changes. False: it is compressed, and is never written to. */
export async function markHeader(path: string): Promise<boolean> {
  const handle = await open(path, 'r+')
  try {
    if ((await openedAs(handle, Number.POSITIVE_INFINITY)).bytes.isCompressed) return false
    const header = segmentHeader(logFormat)
    const start = Buffer.alloc(header.length)
    await handle.read(start, 0, start.length, 0)
    if (start.equals(header)) return true
    await handle.write(header, 0, header.length, 0)
    await handle.datasync()
    return true
  } finally {
    await handle.close()
  }
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
/** A place in a segment is found to this many bytes. */
const seekBytes = 256 * 1024

/** Reads a segment through a window. Returned views stay valid. */
class Source {
  private buffer = Buffer.alloc(0)
  private start = 0

  constructor(
    private readonly bytes: SegmentBytes,
    private readonly least = window,
  ) {}

  get size(): number {
    return this.bytes.size
  }

  /** Null if the segment ends before. */
  async view(offset: number, length: number): Promise<Buffer | null> {
    if (offset + length > this.size) return null
    if (offset < this.start || offset + length > this.start + this.buffer.length) {
      const buffer = Buffer.allocUnsafe(Math.min(Math.max(length, this.least), this.size - offset))
      if (!(await this.bytes.read(buffer, offset))) return null
      this.buffer = buffer
      this.start = offset
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

/** `step`: bytes that are searched at once, of which a quarter is longer than a head. */
async function findFrame(source: Source, from: number, step = 4 * window): Promise<number> {
  for (let offset = from; offset < source.size; ) {
    const length = Math.min(step, source.size - offset)
    const bytes = await source.view(offset, length)
    if (!bytes) break
    let candidate = nextCandidate(bytes, 0)
    while (candidate !== null) {
      if (await frameAt(source, offset + candidate)) return offset + candidate
      candidate = nextCandidate(bytes, candidate + 1)
    }
    if (offset + length >= source.size) break
    offset += (3 * step) / 4 // the overlap keeps the heads on the border
  }
  return source.size
}

/** Where a frame starts, from `start` on, before which there is no record `seq`: numbers rise. */
async function seek(bytes: SegmentBytes, start: number, seq: number): Promise<number> {
  const source = new Source(bytes, seekBytes)
  let [low, high] = [start, bytes.size]
  while (high - low > seekBytes) {
    const middle = low + Math.floor((high - low) / 2)
    const found = await findFrame(source, middle, seekBytes)
    const frame = found < high ? await frameAt(source, found) : null
    if (frame && frame.firstSeq <= seq) low = found
    else high = middle
  }
  return low
}

/** The contents of a segment from `start` on: complete frames, and the gaps between them. */
export async function* scan(bytes: SegmentBytes, start: number): AsyncGenerator<Frame | Gap> {
  const source = new Source(bytes)
  let offset = start
  while (offset < source.size) {
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
  /** The offset to start reading: a frame starts there, and no frame before it is needed. Default: it is searched for. */
  offset?: number,
): AsyncGenerator<Frame | LogDamage> {
  let next = seq
  for await (const frame of segment ? wholeFrames(segment, seq, end, offset) : []) {
    if (frame.firstSeq > next) yield { file: segment!.path, offset: frame.offset, fromSeq: next, toSeq: frame.firstSeq - 1 }
    yield frame
    next = frame.firstSeq + frame.rows
  }
  if (next < end) yield { file: segment?.path ?? directory, offset: segment?.bytes ?? 0, fromSeq: next, toSeq: end - 1 }
}

async function* wholeFrames({ path, firstSeq, bytes }: Segment, seq: number, end: number, offset?: number): AsyncGenerator<Frame> {
  const handle = await open(path, 'r')
  try {
    const { bytes: opened } = await openedAs(handle, bytes)
    const header = segmentHeader().length
    let next = seq
    for await (const found of scan(opened, offset ?? (seq > firstSeq ? await seek(opened, header, seq) : header))) {
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
