import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { InternalError } from '../../../errors/errors.ts'
import { inspectLog } from '../log/findings.ts'
import { encodeFrame } from '../log/frame.ts'
import { lastOf } from '../log/log.ts'
import { readPosition } from '../log/position.ts'
import { TailedLog } from '../log/tailed-log.ts'
import { type LogRow, logRows } from '../postgres/log-rows.ts'
import { openPartitions } from '../postgres/partitions.ts'
import { filesOf } from '../project-storage.ts'
import type { MoveTarget } from './target.ts'

const packed = promisify(gzip)
/** Batches of one transaction, and about how many bytes they may have. */
const mostRows = 128
const mostBytes = 4 * 1024 ** 2

/** The log of a project in a directory, as the log of the same project in PostgreSQL: record for record, with the same numbers. */
export interface FollowedLog {
  /** Appends what is missing there. `isClosed`: its owner has left the log. Returns the last record of both, and the number of those that were added. */
  follow(isClosed: boolean): Promise<{ readonly seq: number; readonly appended: number }>
}

const refused = () => Promise.reject(new InternalError('A log that is followed is not written'))

export function followLog({ postgres }: MoveTarget, dataDir: string, project: number): FollowedLog {
  const { log: directory, position } = filesOf(dataDir, project)
  const rows = logRows(postgres, project)
  const ignore = () => undefined
  const log = new TailedLog({
    directory,
    lastSeq: 0,
    writer: { append: refused, taken: ignore, applied: ignore },
    onDamage: 'refuse',
  })
  return {
    async follow(isClosed) {
      // The owner notes what is durable; what is in the files after that may never have been acknowledged.
      const end = isClosed ? (await inspectLog(directory)).lastSeq : readPosition(position).seq
      const [state] = await openPartitions(postgres).look([project])
      let last = state!.lastSeq
      const began = last
      if (end <= last) return { seq: last, appended: 0 }
      log.reached(end)
      let group: LogRow[] = []
      let records = 0
      let bytes = 0
      const send = async () => {
        if (group.length === 0) return
        last = await rows.appendAfter(last, group)
        group = []
        records = 0
        bytes = 0
      }
      for await (const batch of log.read(last + 1)) {
        if (batch.firstSeq !== last + records + 1)
          throw new InternalError(`Record ${last + records + 1} of project ${project} is missing in the log`)
        const row: LogRow = {
          appendId: randomUUID(),
          records: batch.uuids.length,
          bytes: await packed(encodeFrame(batch, 0, 0), { level: 1 }),
        }
        group.push(row)
        records = lastOf(batch) - last
        bytes += row.bytes.length
        if (group.length >= mostRows || bytes >= mostBytes) await send()
      }
      await send()
      return { seq: last, appended: last - began }
    },
  }
}
