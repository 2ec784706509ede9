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

/** The lines of a text file, in batches of one read each; decompressed if it is gzip or zstd. `onBytes` receives the number of bytes read. */
export async function* readLines(path: string, onBytes: (count: number) => void = () => {}): AsyncGenerator<string[], void, void> {
  const head = await firstBytes(path, 6)
  const wrapping = wrappingOf(head)
  if (wrapping === 'zstd' && windowOf(head) > largestWindow)
    throw new Error(`decompressing it needs a window of ${windowOf(head)} bytes; the limit is ${largestWindow}. Compress it without --long`)
  const file = createReadStream(path, { highWaterMark: 1 << 19 })
  let rest: Buffer[] = []
  let restLength = 0
  let isStart = true
  try {
    for await (const chunk of unwrapped(file, wrapping)) {
      onBytes(file.bytesRead)
      const lines: string[] = []
      let start = isStart && chunk.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
      isStart = false
      for (let end = chunk.indexOf(newline, start); end >= 0; end = chunk.indexOf(newline, start)) {
        if (restLength === 0) lines.push(textOf(chunk, start, end))
        else {
          const line = Buffer.concat([...rest, chunk.subarray(start, end)])
          lines.push(textOf(line, 0, line.length))
          rest = []
          restLength = 0
        }
        start = end + 1
      }
      if (start < chunk.length) {
        rest.push(Buffer.from(chunk.subarray(start)))
        restLength += chunk.length - start
        if (restLength > longestLine) throw new Error(`a line exceeds ${longestLine} bytes; this does not look like a file of events`)
      }
      if (lines.length > 0) yield lines
    }
  } finally {
    file.destroy()
  }
  if (restLength > 0) yield [textOf(Buffer.concat(rest), 0, restLength)]
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const carriageReturn = 13
const textOf = (bytes: Buffer, start: number, end: number) =>
  bytes.toString('utf8', start, end > start && bytes[end - 1] === carriageReturn ? end - 1 : end)
