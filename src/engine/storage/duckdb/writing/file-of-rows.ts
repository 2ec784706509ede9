import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { DataType } from 'apache-arrow'
import { isNamed } from '../../../../language/types/types.ts'
import type { FileOfRows, ResultColumn } from '../../../execution/ports.ts'
import { withinReserve } from '../../files/disk-reserve.ts'
import { inOwnInstance, readOf, saidOf, typeOf } from './parquet-of-rows.ts'
import { bytesOf, compressFile, copyStatement, isCompressedAfterwards } from './write-file.ts'

const memory = '512MB'
/** Of lines that are written together. */
const partBytes = 16 * 1024 ** 2
/** Row groups are held in memory, and rows may be wide. */
const groupBytes = 64 * 1024 ** 2

/** For the reader of lines, which takes memory for several of the longest. */
const leastLine = 1024 ** 2

/** Whole lines, about this many bytes together. */
async function* wholeLines(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    pieces.push(piece)
    size += piece.length
    if (size < most) continue
    const all = Buffer.concat(pieces)
    const end = all.lastIndexOf(lineEnd) + 1
    if (end > 0) yield all.subarray(0, end)
    pieces = [all.subarray(end)]
    size = all.length - end
  }
  yield Buffer.concat(pieces)
}
const lineEnd = 10

/** The bytes of the longest line. */
function longestIn(lines: Buffer): number {
  let [longest, from] = [leastLine, 0]
  for (let end = lines.indexOf(lineEnd); end >= 0; end = lines.indexOf(lineEnd, from)) {
    longest = Math.max(longest, end - from + 1)
    from = end + 1
  }
  return longest
}

/** A type that keeps more than the JSON form shows, so that `written` finds what it finds in a store. */
function readAs({ type }: ResultColumn, arrow: DataType): string {
  if (!type) return typeOf(arrow)
  if (isNamed(type, 'Dynamic')) return 'JSON'
  if (isNamed(type, 'UUID')) return 'UUID'
  if (isNamed(type, 'Bool')) return 'BOOLEAN' // the server calls it UInt8
  if (isNamed(type, 'UInt64')) return 'UBIGINT'
  if (isNamed(type, 'Int128', 'Int256', 'UInt128', 'UInt256')) return 'VARCHAR'
  return typeOf(arrow)
}

/** Writes rows of another engine as this one writes its own: first as lines of JSON beside the file, then by COPY. */
export const fileOfRows: FileOfRows = async ({ columns, types, lines }, file, signal) => {
  const folder = await mkdtemp(join(dirname(file.path), 'rows-'))
  const rows = join(folder, 'rows.jsonl')
  try {
    return await withinReserve(folder, signal, async (within) => {
      const read = columns.map(({ name, type }, i) => ({ name, type: readAs(types[i]!, type) }))
      const [part, plain] = [join(folder, 'part'), join(folder, 'plain')]
      const copy = (longest: number, to: string) =>
        copyStatement({ sql: `SELECT * FROM ${readOf(rows, read, longest)}`, params: [], columns: types }, file, to, groupBytes).sql
      let count = 0
      await inOwnInstance({ folder, memory, signal: within }, async (connection) => {
        if (file.format === 'Parquet') {
          let longest = leastLine
          const all = async function* () {
            for await (const some of wholeLines(lines, partBytes)) {
              longest = Math.max(longest, longestIn(some))
              yield some
            }
          }
          await pipeline(all, createWriteStream(rows, { mode: 0o600 }), { signal: within })
          count = (await connection.run(copy(longest, plain))).rowsChanged
          return
        }
        // Rows of a vector take several times their size until they are written: few bytes at a time.
        for await (const some of wholeLines(lines, partBytes)) {
          within.throwIfAborted()
          await writeFile(rows, some, { mode: 0o600 })
          count += (await connection.run(copy(longestIn(some), part))).rowsChanged
          await pipeline(createReadStream(part), createWriteStream(plain, { mode: 0o600, flags: 'a' }), { signal: within })
        }
      })
      await rm(rows)
      await (isCompressedAfterwards(file) ? compressFile(plain, file.path, file.compression) : rename(plain, file.path))
      return { rows: count, bytes: await bytesOf(file.path) }
    })
  } catch (error) {
    throw saidOf(error)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
