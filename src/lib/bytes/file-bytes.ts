import { open, rm } from 'node:fs/promises'

const bytesPerPiece = 256 * 1024

/** The bytes of a file, which is removed at once: a process that is killed leaves nothing behind. */
export async function* bytesOfRemoved(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const handle = await open(file)
  try {
    await rm(file)
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(bytesPerPiece))
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}
