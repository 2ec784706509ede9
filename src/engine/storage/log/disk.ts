import { type FileHandle, open, rename, statfs } from 'node:fs/promises'

/** The log's disk operations, so that tests can make them fail. */
export interface Disk {
  open(path: string, flags: 'wx' | 'r+'): Promise<FileHandle>
  /** Writes all of the bytes, or throws. */
  write(handle: FileHandle, bytes: readonly Uint8Array[], position: number): Promise<void>
  sync(handle: FileHandle): Promise<void>
  rename(from: string, to: string): Promise<void>
  syncDirectory(directory: string): Promise<void>
  freeBytes(directory: string): Promise<number>
}

export const disk: Disk = {
  open: (path, flags) => open(path, flags, 0o600),
  async write(handle, bytes, position) {
    let at = position
    let rest = [...bytes]
    while (rest.length > 0) {
      const { bytesWritten } = await handle.writev(rest, at)
      at += bytesWritten
      rest = dropBytes(rest, bytesWritten)
    }
  },
  sync: (handle) => handle.datasync(),
  rename,
  async syncDirectory(directory) {
    const handle = await open(directory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  async freeBytes(directory) {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  },
}

const dropBytes = (chunks: readonly Uint8Array[], count: number): Uint8Array[] => {
  let left = count
  const rest: Uint8Array[] = []
  for (const chunk of chunks) {
    if (left >= chunk.byteLength) left -= chunk.byteLength
    else {
      rest.push(chunk.subarray(left))
      left = 0
    }
  }
  return rest
}
