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

export interface SharedTransformFile extends TransformFile {
  /** The server goes on, but not with this lease: what it has begun without a result did not end it. */
  release(): Promise<void>
}

/** Rows of one statement. */
const rowsAtOnce = 200

/** What became of the records of a range; without payloads it has begun only. */
export interface TransformedRow {
  readonly range: RecordRange
  readonly payloads: Buffer | null
}

/** Where a server that has the lease of a project keeps them. */
export interface TransformedRows {
  /** In the order in which they were added. */
  read(): Promise<readonly TransformedRow[]>
  /** Returns how many were added: none once another server has the lease. */
  add(rows: readonly TransformedRow[]): Promise<number>
  /** Removes what was begun with this lease and has no result. */
  release(): Promise<unknown>
  /** Removes what is about records up to `seq`. */
  forget(seq: number): Promise<unknown>
}

/** It rejects with `lost()` once another server has the lease. */
export async function sharedTransformFile(rows: TransformedRows, lost: () => Error): Promise<SharedTransformFile> {
  const begun: RecordRange[] = []
  const results: TransformedRecords[] = []
  let lastSeq = 0
  const note = (range: RecordRange) => {
    lastSeq = Math.max(lastSeq, lastOf(range))
  }
  for (const { range, payloads } of await rows.read()) {
    note(range)
    if (payloads === null) begun.push(range)
    else results.push({ firstSeq: range.firstSeq, payloads: JSON.parse((await unpacked(payloads)).toString()) as string[] })
  }
  const add = async (all: readonly TransformedRow[]): Promise<void> => {
    for (let from = 0; from < all.length; from += rowsAtOnce) {
      const some = all.slice(from, from + rowsAtOnce)
      if ((await rows.add(some)) === 0) throw lost()
      for (const { range } of some) note(range)
    }
  }
  return {
    begun,
    results,
    begin: (ranges) => add(ranges.map((range) => ({ range, payloads: null }))),
    async write(all) {
      const packing = all.map(async ({ firstSeq, payloads }) => ({
        range: { firstSeq, count: payloads.length },
        payloads: await packed(JSON.stringify(payloads), quickly),
      }))
      await add(await Promise.all(packing))
    },
    release: async () => void (await rows.release()),
    async forget(seq) {
      if (lastSeq === 0) return
      await rows.forget(seq)
      if (seq < lastSeq) return
      lastSeq = 0
      begun.length = 0
      results.length = 0
    },
  }
}

export function transformedRows({ schema, rows, run }: Postgres, { project, epoch, holder }: Lease): TransformedRows {
  const table = `${schema}.cluster_transformed`
  return {
    async read() {
      const found = await rows<{ first_seq: string; records: number; payloads: Buffer | null }>(
        `SELECT first_seq, records, payloads FROM ${table} WHERE project = $1 ORDER BY place`,
        [project],
      )
      return found.map(({ first_seq, records, payloads }) => ({ range: { firstSeq: Number(first_seq), count: records }, payloads }))
    },
    add(all) {
      const places = all.map((_, i) => `($${4 + 3 * i}::bigint, $${5 + 3 * i}::integer, $${6 + 3 * i}::bytea, ${i})`)
      return run(
        `INSERT INTO ${table} (project, first_seq, records, payloads, epoch) SELECT $1, v.first_seq, v.records, v.payloads, $2
         FROM (VALUES ${places.join(', ')}) AS v (first_seq, records, payloads, n), ${schema}.cluster_partitions AS p
         WHERE p.project = $1 AND p.epoch = $2 AND p.holder = $3 ORDER BY v.n`,
        [project, epoch, holder, ...all.flatMap(({ range, payloads }) => [range.firstSeq, range.count, payloads])],
      )
    },
    release: () =>
      run(
        `DELETE FROM ${table} AS b WHERE project = $1 AND epoch = $2 AND payloads IS NULL
           AND NOT EXISTS (SELECT 1 FROM ${table} AS r WHERE r.project = b.project AND r.first_seq = b.first_seq AND r.payloads IS NOT NULL)`,
        [project, epoch],
      ),
    forget: (seq) => run(`DELETE FROM ${table} WHERE project = $1 AND first_seq + records - 1 <= $2`, [project, seq]),
  }
}
