import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Decompress } from 'fzstd'

const newline = 10
/** A line longer than this is no line of events: the file is something else. */
const longestLine = 64 * 1024 * 1024

/** The first bytes of a file, as they lie on disk. */
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
export const wrappingOf = (head: Uint8Array): Wrapping =>
  head[0] === 0x1f && head[1] === 0x8b
    ? 'gzip'
    : head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd
      ? 'zstd'
      : null

function unwrap(wrapping: Wrapping): Transform | null {
  if (wrapping === 'gzip') return createGunzip({ chunkSize: 1 << 18 })
  if (wrapping === null) return null
  const decompress = new Decompress()
  const out = new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        decompress.push(chunk)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
    flush(done) {
      try {
        decompress.push(new Uint8Array(0), true)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
  decompress.ondata = (data) => out.push(Buffer.from(data))
  return out
}

/** The lines of a text file, as many at a time as one read brings; unwrapped when it is gzip or zstd. `onBytes` hears how far it has been read. */
export async function* readLines(path: string, onBytes: (count: number) => void = () => {}): AsyncGenerator<string[], void, void> {
  const wrapping = wrappingOf(await firstBytes(path, 4))
  const file = createReadStream(path, { highWaterMark: 1 << 19 })
  const unwrapped = unwrap(wrapping)
  const stream = unwrapped ? pipeline(file, unwrapped, () => {}) : file
  let rest: Buffer[] = []
  let restLength = 0
  let isStart = true
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
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
        if (restLength > longestLine) throw new Error(`it has a line of more than ${longestLine} bytes; this is no file of events`)
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
