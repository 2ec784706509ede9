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
  if (wrapping === 'gzip') return createGunzip()
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

/** The lines of a text file, unwrapped when it is gzip or zstd. `onBytes` hears how far the file has been read. */
export async function* readLines(path: string, onBytes: (count: number) => void = () => {}): AsyncGenerator<string, void, void> {
  const wrapping = wrappingOf(await firstBytes(path, 4))
  const file = createReadStream(path, { highWaterMark: 1 << 20 })
  const unwrapped = unwrap(wrapping)
  const stream = unwrapped ? pipeline(file, unwrapped, () => {}) : file
  let rest: Buffer[] = []
  let restLength = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      onBytes(file.bytesRead)
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        const piece = chunk.subarray(start, end)
        yield textOf(rest.length ? Buffer.concat([...rest, piece]) : piece)
        rest = []
        restLength = 0
        start = end + 1
      }
      if (start < chunk.length) {
        rest.push(Buffer.from(chunk.subarray(start)))
        restLength += chunk.length - start
        if (restLength > longestLine) throw new Error(`${path} has a line of more than ${longestLine} bytes; this is no file of events`)
      }
    }
  } finally {
    file.destroy()
  }
  if (rest.length) yield textOf(Buffer.concat(rest))
}

const textOf = (line: Buffer) => (line.at(-1) === 13 ? line.toString('utf8', 0, line.length - 1) : line.toString('utf8'))
