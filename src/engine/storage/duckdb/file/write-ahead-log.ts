import { open } from 'node:fs/promises'

/** The start of the entry with the version of the log, which is its first one. */
const start = Buffer.from('6400626500', 'hex')

/**
 * Whether a file can be a write-ahead log, or there is none. One that begins with anything else is read as a log of old, without checksums; what it meets then
 * ends the engine's whole instance, where a wrong checksum is an error of this file only.
 */
export async function beginsAsLog(path: string): Promise<boolean> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!handle) return true
  try {
    const found = Buffer.alloc(start.length)
    const { bytesRead } = await handle.read(found, 0, start.length, 0)
    return found.subarray(0, bytesRead).equals(start.subarray(0, bytesRead))
  } finally {
    await handle.close()
  }
}

export const damagedLog = 'its write-ahead log is damaged'
