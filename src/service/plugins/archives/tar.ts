import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { ArchiveFile } from './archive-file.ts'
import { ArchiveError, type ArchiveLimits } from './limits.ts'

// Gzipped tar as npm sends it: ustar headers, with long names in pax headers or GNU entries.

const decompress = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

const block = 512
const damaged = () => new ArchiveError('The archive is not a valid tar file.')
const textOf = (bytes: Buffer, start: number, length: number): string => {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

/** The path of a pax header: records of the form `<length> <key>=<value>\n`. */
const paxPath = (contents: Buffer): string | null => {
  let found: string | null = null
  for (let at = 0; at < contents.length; ) {
    const space = contents.indexOf(0x20, at)
    const length = Number(contents.toString('latin1', at, Math.max(space, at)))
    if (space < 0 || !Number.isInteger(length) || length <= 0) throw damaged()
    const record = contents.toString('utf8', space + 1, at + length - 1)
    if (record.startsWith('path=')) found = record.slice('path='.length)
    at += length
  }
  return found
}

const sumOf = (header: Buffer): number => {
  let sum = 0
  for (let i = 0; i < block; i++) sum += i >= 148 && i < 156 ? 0x20 : header[i]!
  return sum
}

export async function tarFiles(archive: Buffer, limits: ArchiveLimits): Promise<ArchiveFile[]> {
  const bytes = await decompress(archive, { maxOutputLength: limits.unpackedBytes }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE'
      ? new ArchiveError(`The archive has more than ${limits.unpackedBytes} bytes after decompression.`)
      : new ArchiveError('The archive is not a valid gzip file.')
  })
  const files: ArchiveFile[] = []
  let longName: string | null = null
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) break
    if (Number.parseInt(textOf(header, 148, 8).trim(), 8) !== sumOf(header)) throw damaged()
    const size = Number.parseInt(textOf(header, 124, 12).trim() || '0', 8)
    const [from, to] = [at + block, at + block + size]
    if (!(size >= 0) || to > bytes.length) throw damaged()
    const contents = bytes.subarray(from, to)
    const kind = String.fromCharCode(header[156]!)
    const prefix = textOf(header, 257, 5) === 'ustar' ? textOf(header, 345, 155) : ''
    const path = longName ?? (prefix ? `${prefix}/` : '') + textOf(header, 0, 100)
    if (kind === 'x') longName = paxPath(contents) ?? longName
    else if (kind === 'L') longName = textOf(contents, 0, contents.length)
    else if (kind !== 'g') {
      longName = null
      if (kind === '0' || kind === '\0') files.push({ path, read: async () => limited(path, contents, limits) })
    }
    if (files.length > limits.files) throw new ArchiveError(`The archive has more than ${limits.files} files.`)
    at = from + Math.ceil(size / block) * block
  }
  return files
}

const limited = (path: string, contents: Buffer, { fileBytes }: ArchiveLimits): Buffer => {
  if (contents.length > fileBytes) throw new ArchiveError(`${path} has ${contents.length} bytes. At most ${fileBytes} are read.`)
  return contents
}
