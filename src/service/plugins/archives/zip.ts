import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { crc32 } from '../../../lib/ids/crc32.ts'
import type { ArchiveFile } from './archive-file.ts'
import { ArchiveError, type ArchiveLimits } from './limits.ts'

// ZIP as hosts of repositories send it: stored and deflated files, listed in the central directory at the end. ZIP64 and encryption are refused.

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw)

const endMark = 0x06054b50
const entryMark = 0x02014b50
const fileMark = 0x04034b50
const endBytes = 22
const entryBytes = 46
const fileHeaderBytes = 30
const longestComment = 0xffff
const isEncrypted = 1
const [stored, deflated] = [0, 8]

const damaged = () => new ArchiveError('The archive is not a valid ZIP file.')

const findEnd = (bytes: Buffer): number => {
  for (let at = bytes.length - endBytes; at >= Math.max(0, bytes.length - endBytes - longestComment); at--)
    if (bytes.readUInt32LE(at) === endMark) return at
  throw damaged()
}

export function zipFiles(bytes: Buffer, limits: ArchiveLimits): ArchiveFile[] {
  const end = findEnd(bytes)
  const count = bytes.readUInt16LE(end + 10)
  if (count > limits.files) throw new ArchiveError(`The archive has ${count} files. At most ${limits.files} are read.`)
  const files: ArchiveFile[] = []
  let at = bytes.readUInt32LE(end + 16)
  for (let i = 0; i < count; i++) {
    if (at + entryBytes > bytes.length || bytes.readUInt32LE(at) !== entryMark) throw damaged()
    const flags = bytes.readUInt16LE(at + 8)
    const entry = {
      method: bytes.readUInt16LE(at + 10),
      checksum: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      start: bytes.readUInt32LE(at + 42),
    }
    const [name, extra, comment] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)]
    const path = bytes.toString('utf8', at + entryBytes, at + entryBytes + name)
    if (!path.endsWith('/'))
      files.push({
        path,
        read: () => {
          if (flags & isEncrypted) throw new ArchiveError(`${path} is encrypted.`)
          return readFile(bytes, path, entry, limits)
        },
      })
    at += entryBytes + name + extra + comment
  }
  return files
}

interface Entry {
  readonly method: number
  readonly checksum: number
  readonly packed: number
  readonly size: number
  readonly start: number
}

async function readFile(bytes: Buffer, path: string, { method, checksum, packed, size, start }: Entry, limits: ArchiveLimits) {
  if (size > limits.fileBytes) throw new ArchiveError(`${path} has ${size} bytes. At most ${limits.fileBytes} are read.`)
  if (start + fileHeaderBytes > bytes.length || bytes.readUInt32LE(start) !== fileMark) throw damaged()
  const from = start + fileHeaderBytes + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28)
  if (from + packed > bytes.length) throw damaged()
  const data = bytes.subarray(from, from + packed)
  if (method !== stored && method !== deflated) throw new ArchiveError(`${path} is compressed with method ${method}. Use deflate.`)
  // The size that the archive states is not trusted: it is the limit of what is decompressed.
  const contents =
    method === stored
      ? data
      : await inflate(data, { maxOutputLength: Math.max(size, 1) }).catch(() => {
          throw damaged()
        })
  if (contents.length !== size || crc32(contents) !== checksum) throw damaged()
  return contents
}
