import type { ArchiveFile } from './archive-file.ts'
import { ArchiveError, type ArchiveLimits } from './limits.ts'
import { tarFiles } from './tar.ts'
import { zipFiles } from './zip.ts'

const isZip = (bytes: Buffer) => bytes.length > 3 && (bytes.readUInt32LE(0) === 0x04034b50 || bytes.readUInt32LE(0) === 0x06054b50)
const isGzip = (bytes: Buffer) => bytes.length > 1 && bytes.readUInt16LE(0) === 0x8b1f

/** The files of a ZIP or a gzipped tar archive, which its first bytes tell. */
export async function archiveFiles(bytes: Buffer, limits: ArchiveLimits): Promise<readonly ArchiveFile[]> {
  if (isZip(bytes)) return zipFiles(bytes, limits)
  if (isGzip(bytes)) return tarFiles(bytes, limits)
  throw new ArchiveError('Expected a ZIP or a gzipped tar archive.')
}
