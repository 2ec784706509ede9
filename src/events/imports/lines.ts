import { createReadStream, type ReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Decompress } from 'fzstd'

const newline = 10
/** A longer line means that the file does not contain events. */
const longestLine = 64 * 1024 * 1024

/** The first bytes of a file, still compressed. */
export async function firstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

export type Wrapping = 'gzip' | 'zstd' | null
const wrappingOf = (head: Uint8Array): Wrapping =>
  head[0] === 0x1f && head[1] === 0x8b
    ? 'gzip'
    : head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd
      ? 'zstd'
      : null

/** Four bytes may decompress to 128 KB, so input is passed in small chunks, each after the previous output was read. */
const bytesOfPiece = 1 << 10
/** Largest window of a zstd file: the default limit of the zstd tools. */
const largestWindow = 128 * 1024 * 1024

/** Bytes of the window that the frame at the start of a zstd file needs; 0 when it is as large as its content. */
function windowOf(head: Uint8Array): number {
  const [descriptor = 0, window = 0] = head.subarray(4)
  if (descriptor & 0x20) return 0
  const base = 2 ** (10 + (window >> 3))
  return base + (base / 8) * (window & 7)
}

async function* unzstd(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let unpacked: Uint8Array[] = []
  const decompress = new Decompress((data) => unpacked.push(data))
  for await (const chunk of file)
    for (let at = 0; at < chunk.length; at += bytesOfPiece) {
      decompress.push(chunk.subarray(at, at + bytesOfPiece))
      for (const data of unpacked) yield Buffer.from(data)
      unpacked = []
    }
  decompress.push(new Uint8Array(0), true)
  for (const data of unpacked) yield Buffer.from(data)
}

function unwrapped(file: ReadStream, wrapping: Wrapping): AsyncIterable<Buffer> {
  if (wrapping === 'gzip') return pipeline(file, createGunzip({ chunkSize: 1 << 18 }), () => {})
  return wrapping === 'zstd' ? unzstd(file) : file
}

/**
 * A text file in blocks that end with a line, of at least `least` bytes each but for the last one; decompressed if it is gzip or zstd. `onBytes` receives the
 * number of bytes read. Lines before an unreadable place come before its error.
 */
export async function* readBlocks(
  path: string,
  onBytes: (count: number) => void = () => {},
  least = 1,
): AsyncGenerator<Buffer, void, void> {
  const head = await firstBytes(path, 6)
  const wrapping = wrappingOf(head)
  if (wrapping === 'zstd' && windowOf(head) > largestWindow)
    throw new Error(`decompressing it needs a window of ${windowOf(head)} bytes; the limit is ${largestWindow}. Compress it without --long`)
  const file = createReadStream(path, { highWaterMark: 1 << 19 })
  let pieces: Buffer[] = []
  let length = 0
  /** Bytes after the last line. */
  let rest = 0
  let isStart = true
  let failure: { readonly error: unknown } | null = null
  try {
    for await (const read of unwrapped(file, wrapping)) {
      onBytes(file.bytesRead)
      const chunk = isStart && read.subarray(0, 3).equals(byteOrderMark) ? read.subarray(3) : read
      isStart = false
      const end = chunk.lastIndexOf(newline) + 1
      pieces.push(chunk)
      length += chunk.length
      rest = end > 0 ? chunk.length - end : rest + chunk.length
      if (rest > longestLine) throw new Error(`a line exceeds ${longestLine} bytes; this does not look like a file of events`)
      if (end === 0 || length - rest < least) continue
      yield Buffer.concat(pieces, length - rest)
      pieces = rest > 0 ? [Buffer.from(chunk.subarray(end))] : []
      length = rest
    }
  } catch (error) {
    failure = { error }
  } finally {
    file.destroy()
  }
  const whole = failure ? length - rest : length
  if (whole > 0) yield Buffer.concat(pieces, whole)
  if (failure) throw failure.error
}

/** The lines of a block. */
export function linesOf(block: Buffer): string[] {
  const lines: string[] = []
  let start = 0
  for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
    lines.push(textOf(block, start, end))
    start = end + 1
  }
  if (start < block.length) lines.push(textOf(block, start, block.length))
  return lines
}

export function countLines(block: Buffer): number {
  let count = 0
  let start = 0
  for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
    count++
    start = end + 1
  }
  return start < block.length ? count + 1 : count
}

/** The lines of a text file, in batches of one read each. */
export async function* readLines(path: string, onBytes?: (count: number) => void): AsyncGenerator<string[], void, void> {
  for await (const block of readBlocks(path, onBytes)) yield linesOf(block)
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const carriageReturn = 13
const textOf = (bytes: Buffer, start: number, end: number) =>
  bytes.toString('utf8', start, end > start && bytes[end - 1] === carriageReturn ? end - 1 : end)
