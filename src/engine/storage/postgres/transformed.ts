import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { RecordRange, TransformedRecords, TransformFile } from '../../../events/ingestion/transforming/ports.ts'
import type { Postgres } from './client.ts'
import type { Lease } from './partitions.ts'

// What became of records that plugins may have seen at the server which applied the project before: rows exist only between the change of the server and the moment
// when the store has these records.

const packed = promisify(gzip)
const unpacked = promisify(gunzip)
const quickly = { level: 1 } as const

const lastOf = ({ firstSeq, count }: RecordRange) => firstSeq + count - 1

/** Of a server that has the lease; it rejects with `lost()` once another one has. */
export async function transformedInPostgres(
  { schema, rows, run }: Postgres,
  { project, epoch, holder }: Lease,
  lost: () => Error,
): Promise<TransformFile> {
  const table = `${schema}.cluster_transformed`
  const found = await rows<{ first_seq: string; records: number; payloads: Buffer | null }>(
    `SELECT first_seq, records, payloads FROM ${table} WHERE project = $1 ORDER BY place`,
    [project],
  )
  const begun: RecordRange[] = []
  const results: TransformedRecords[] = []
  let lastSeq = 0
  const note = (range: RecordRange) => {
    lastSeq = Math.max(lastSeq, lastOf(range))
  }
  for (const { first_seq, records, payloads } of found) {
    const range = { firstSeq: Number(first_seq), count: records }
    note(range)
    if (payloads === null) begun.push(range)
    else results.push({ firstSeq: range.firstSeq, payloads: JSON.parse((await unpacked(payloads)).toString()) as string[] })
  }
  const add = async (range: RecordRange, payloads: Buffer | null) => {
    const added = await run(
      `INSERT INTO ${table} (project, first_seq, records, payloads) SELECT $1, $2, $3, $4
       FROM ${schema}.cluster_partitions WHERE project = $1 AND epoch = $5 AND holder = $6`,
      [project, range.firstSeq, range.count, payloads, epoch, holder],
    )
    if (added === 0) throw lost()
    note(range)
  }
  return {
    begun,
    results,
    async begin(ranges) {
      for (const range of ranges) await add(range, null)
    },
    async write(all) {
      for (const { firstSeq, payloads } of all)
        await add({ firstSeq, count: payloads.length }, await packed(JSON.stringify(payloads), quickly))
    },
    async forget(seq) {
      if (lastSeq === 0) return
      await run(`DELETE FROM ${table} WHERE project = $1 AND first_seq + records - 1 <= $2`, [project, seq])
      if (seq < lastSeq) return
      lastSeq = 0
      begun.length = 0
      results.length = 0
    },
  }
}
