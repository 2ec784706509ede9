import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ListFiles, ListImage } from '../../../core/lists/ports.ts'
import { checksumOf } from '../../../lib/bytes/checksum.ts'

// The lists of a project on disk: a header, then the arrays as they are in memory. Made to be read fast; damaged files are rebuilt.

const magic = 'waymark lists 1\n'
const headBytes = 32
/** Bytes per read and write: other work runs in between. */
const stepBytes = 16 * 2 ** 20

interface Section {
  readonly bytes: number
  readonly checksum: number
}
interface Header {
  readonly about: unknown
  readonly sections: readonly Section[]
}

export const listFiles = (path: string): ListFiles => ({
  async write({ about, arrays }) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const unfinished = `${path}.new`
    const file = await open(unfinished, 'w', 0o600)
    try {
      const sections = arrays.map((array): Section => ({ bytes: array.byteLength, checksum: checksumOf(array) }))
      const header = Buffer.from(JSON.stringify({ about, sections } satisfies Header))
      const head = Buffer.alloc(headBytes)
      head.write(magic)
      head.writeUInt32LE(header.length, 16)
      head.writeUInt32LE(checksumOf(header), 20)
      let at = await transfer(file, 'write', head, 0)
      at = await transfer(file, 'write', header, at)
      for (const array of arrays) at = await transfer(file, 'write', array, at)
      await file.datasync()
    } catch (error) {
      await file.close()
      await rm(unfinished, { force: true })
      throw error
    }
    await file.close()
    await rename(unfinished, path)
  },

  async read(into) {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (!file) return false
    try {
      const head = Buffer.alloc(headBytes)
      await transfer(file, 'read', head, 0)
      if (head.toString('latin1', 0, magic.length) !== magic) return false
      const header = Buffer.alloc(head.readUInt32LE(16))
      let at = await transfer(file, 'read', header, headBytes)
      if (checksumOf(header) !== head.readUInt32LE(20)) return false
      const { about, sections } = JSON.parse(header.toString()) as Header
      const arrays = into(about)
      if (arrays?.length !== sections.length) return false
      for (const [i, { bytes, checksum }] of sections.entries()) {
        const array = arrays[i]!
        if (array.byteLength !== bytes) return false
        at = await transfer(file, 'read', array, at)
        if (checksumOf(array) !== checksum) return false
      }
      return true
    } catch (error) {
      if (error instanceof Incomplete || error instanceof SyntaxError) return false
      throw error
    } finally {
      await file.close()
    }
  },
})

class Incomplete extends Error {}

/** Returns the position behind it. */
async function transfer(file: FileHandle, direction: 'read' | 'write', array: ListImage['arrays'][number], from: number): Promise<number> {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(stepBytes, bytes.length - done)
    const moved =
      direction === 'read'
        ? (await file.read(bytes, done, length, from + done)).bytesRead
        : (await file.write(bytes, done, length, from + done)).bytesWritten
    if (moved === 0) throw new Incomplete('The file ends too early')
    done += moved
  }
  return from + bytes.length
}
