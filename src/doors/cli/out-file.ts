import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { WaymarkError } from '../../errors/errors.ts'

type Bytes = AsyncIterable<Uint8Array>
type OnBytes = (bytes: number) => void

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'its folder does not exist',
  EISDIR: 'it is a folder',
}

const failed = (message: string, cause: unknown) => new WaymarkError('command-failed', { message }, { cause })

/** Writes a file under a temporary name beside its own, so that a file with its name is always complete. */
export async function writeOutFile(path: string, bytes: Bytes, onBytes: OnBytes): Promise<void> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`
  let written = 0
  const mustWrite = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      throw failed(
        `Cannot write ${path}: ${reasons[code] ?? message}. ${written.toLocaleString('en')} bytes were written and removed again.`,
        error,
      )
    }
  }
  try {
    const file = await mustWrite(open(unfinished, 'wx'))
    try {
      for await (const piece of bytes) {
        await mustWrite(file.writeFile(piece))
        written += piece.length
        onBytes(written)
      }
      await mustWrite(file.sync())
    } finally {
      await file.close()
    }
    await mustWrite(rename(unfinished, path))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Writes to the standard output, at the speed of its reader. */
export async function writeOut(stream: NodeJS.WriteStream, bytes: Bytes, onBytes: OnBytes): Promise<void> {
  let written = 0
  let closed: Error | null = null
  const onError = (error: Error) => {
    closed = error
  }
  stream.on('error', onError)
  try {
    for await (const piece of bytes) {
      if (!closed && !stream.write(piece)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => undefined)
      if (closed || stream.destroyed)
        throw failed(`The reader closed the output after about ${written.toLocaleString('en')} bytes.`, closed)
      written += piece.length
      onBytes(written)
    }
  } finally {
    stream.off('error', onError)
  }
}
