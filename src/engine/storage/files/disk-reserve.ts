import { statfs } from 'node:fs/promises'
import { QueryError, WaymarkError } from '../../../errors/errors.ts'

/** Events that arrive, and the store, need space too. */
const reserveBytes = 256 * 1024 ** 2
const lookMs = 250

const freeBytes = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Runs work that may write a large file into a folder, and aborts it while there is still space for everything else. */
export async function withinReserve<T>(
  folder: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  free: (folder: string) => Promise<number> = freeBytes,
): Promise<T> {
  const stop = new AbortController()
  const look = async () => {
    if ((await free(folder)) < reserveBytes) stop.abort(new WaymarkError('no-space', {}))
  }
  await look()
  stop.signal.throwIfAborted()
  if (signal?.aborted) throw signal.reason instanceof WaymarkError ? signal.reason : new QueryError('query-cancelled', {})
  const timer = setInterval(() => void look().catch(() => undefined), lookMs)
  try {
    return await work(signal ? AbortSignal.any([signal, stop.signal]) : stop.signal)
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    clearInterval(timer)
  }
}
