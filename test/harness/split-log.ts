import { rename, rm } from 'node:fs/promises'
import { createBlockLimit } from '../../src/engine/storage/log/compressing.ts'
import { FileLog } from '../../src/engine/storage/log/file-log.ts'

/** A log is split into small segments, as a long one is into large ones: each batch in one of its own if `segmentBytes` is 1. No process may have it open. */
export async function splitLog(folder: string, segmentBytes: number): Promise<void> {
  const whole = await FileLog.open(folder, { minFreeBytes: 0 })
  const split = await FileLog.open(`${folder}.split`, { minFreeBytes: 0, durability: 'os', windowMs: 0, segmentBytes })
  for await (const { firstSeq, ...batch } of whole.read(1)) {
    const found = await split.append(batch)
    if (found.firstSeq !== firstSeq) throw new Error(`record ${firstSeq} became ${found.firstSeq}: the log has lost its beginning`)
  }
  await whole.close()
  await split.close()
  await rm(folder, { recursive: true })
  await rename(`${folder}.split`, folder)
}

/** Compresses the closed segments of a log up to a record. No process may have it open. */
export async function compressLog(folder: string, lastSeq = Number.MAX_SAFE_INTEGER): Promise<void> {
  const log = await FileLog.open(folder, { minFreeBytes: 0, compression: createBlockLimit(), segmentBytes: 1 })
  const keepAlive = setInterval(() => undefined, 1000) // compressing does not
  log.markApplied(lastSeq)
  await log.compressed()
  clearInterval(keepAlive)
  await log.close()
}
