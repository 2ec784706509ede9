const mebibyte = 1024 ** 2

/** Limits for archives, which come from outside. */
export interface ArchiveLimits {
  /** Of the archive as it is sent. */
  readonly archiveBytes: number
  /** Of all files of a tar archive together, and of one file that is read. */
  readonly unpackedBytes: number
  readonly fileBytes: number
  readonly files: number
  /** For one answer of a host, from the request to its last byte. */
  readonly requestMs: number
}

export const archiveLimits: ArchiveLimits = {
  archiveBytes: 20 * mebibyte,
  unpackedBytes: 64 * mebibyte,
  fileBytes: 4 * mebibyte,
  files: 20_000,
  requestMs: 30_000,
}

/** An archive that is damaged, too large, or no plugin. The message is for the user. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
}
