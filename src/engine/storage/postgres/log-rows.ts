import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import type { Postgres, Statements } from './client.ts'
import { told } from './news.ts'

/** A batch as the log has it: compressed, without its numbers. */
export interface LogRow {
  readonly appendId: string
  /** Number of its records. */
  readonly records: number
  readonly bytes: Buffer
  /** The import that its events are of. */
  readonly importId?: string | undefined
}

export interface StoredRow {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly bytes: Buffer
}

/** Rows of one statement: each has three parameters. */
const rowsRead = 64

/** The log of a project: one row per acknowledged batch. */
export interface LogRows {
  /** Adds the rows, which are of one import or of none, in one transaction. Returns the number of the last record. */
  append(rows: readonly LogRow[]): Promise<number>
  /** The same after an attempt of which nobody knows whether it was committed. `beforeSeq`: the rows are later, if they are there. */
  appendAgain(rows: readonly LogRow[], beforeSeq: number): Promise<number>
  /** The same, if the last record is `seq`: what was added by somebody else meanwhile is not added again. */
  appendAfter(seq: number, rows: readonly LogRow[]): Promise<number>
  /** The next rows from the record `fromSeq` on. */
  read(fromSeq: number): Promise<StoredRow[]>
  /** Removes rows that end by `seq` and are older than `ageMs`. */
  remove(seq: number, ageMs: number): Promise<void>
}

export function logRows(postgres: Postgres, project: number): LogRows {
  const { schema } = postgres
  const add = async (on: Statements, rows: readonly LogRow[]): Promise<number> => {
    const values = rows.map((_, i) => `(${i}, $${3 * i + 2}::bigint, $${3 * i + 3}::uuid, $${3 * i + 4}::bytea)`)
    const [found] = await on.rows<{ last_seq: string }>(
      `WITH batch (n, records, append_id, bytes) AS (VALUES ${values.join(', ')}),
         total AS (SELECT sum(records)::bigint AS records FROM batch),
         ends AS (
           INSERT INTO ${schema}.cluster_log_ends (project, last_seq) SELECT $1::integer, records FROM total
           ON CONFLICT (project) DO UPDATE SET last_seq = cluster_log_ends.last_seq + EXCLUDED.last_seq RETURNING last_seq),
         numbered AS (
           SELECT ends.last_seq - total.records + (sum(batch.records) OVER (ORDER BY batch.n))::bigint AS last_seq, batch.records, append_id, bytes
           FROM batch, total, ends),
         added AS (
           INSERT INTO ${schema}.cluster_log (project, first_seq, last_seq, append_id, batch)
           SELECT $1::integer, last_seq - records + 1, last_seq, append_id, bytes FROM numbered)
       SELECT last_seq, ${told(schema, 'grown', '$1::integer', 'last_seq')} FROM ends`,
      [project, ...rows.flatMap(({ records, appendId, bytes }) => [records, appendId, bytes])],
    )
    return Number(found!.last_seq)
  }
  /** Within the transaction that adds its rows: an undo of the import waits for its end, and what comes later is refused. */
  const isOver = async (on: Statements, [row]: readonly LogRow[]): Promise<boolean> => {
    if (row?.importId === undefined) return false
    const text = `SELECT FROM ${schema}.imports WHERE project_id = $1 AND id = $2 AND status = 'running' FOR SHARE`
    return (await on.rows(text, [project, row.importId])).length === 0
  }
  const over = () => new WaymarkError('import-over', {})
  return {
    append: (rows) =>
      rows[0]?.importId === undefined
        ? add(postgres, rows)
        : postgres.transaction(async (on) => {
            if (await isOver(on, rows)) throw over()
            return add(on, rows)
          }),
    appendAgain: (rows, beforeSeq) =>
      postgres.transaction(async (on) => {
        const isLate = await isOver(on, rows)
        // Waits for the earlier attempt, if it is still in progress.
        await on.rows(`SELECT last_seq FROM ${schema}.cluster_log_ends WHERE project = $1 FOR UPDATE`, [project])
        const found = await on.rows<{ last_seq: string }>(
          `SELECT last_seq FROM ${schema}.cluster_log WHERE project = $1 AND first_seq > $2 AND append_id = ANY($3::uuid[]) ORDER BY last_seq DESC`,
          [project, beforeSeq, rows.map(({ appendId }) => appendId)],
        )
        if (found.length > 0) return Number(found[0]!.last_seq)
        if (isLate) throw over()
        return add(on, rows)
      }),
    appendAfter: (seq, rows) =>
      postgres.transaction(async (on) => {
        const [end] = await on.rows<{ last_seq: string }>(`SELECT last_seq FROM ${schema}.cluster_log_ends WHERE project = $1 FOR UPDATE`, [
          project,
        ])
        if (Number(end?.last_seq) !== seq)
          throw new InternalError(`The log of project ${project} ends with ${end?.last_seq}, and ${seq} was expected`)
        return add(on, rows)
      }),
    async read(fromSeq) {
      const found = await postgres.rows<{ first_seq: string; last_seq: string; batch: Buffer }>(
        `SELECT first_seq, last_seq, batch FROM ${schema}.cluster_log WHERE project = $1 AND first_seq >= coalesce(
           (SELECT max(first_seq) FROM ${schema}.cluster_log WHERE project = $1 AND first_seq <= $2), $2)
         ORDER BY first_seq LIMIT ${rowsRead}`,
        [project, fromSeq],
      )
      return found.map(({ first_seq, last_seq, batch }) => ({ firstSeq: Number(first_seq), lastSeq: Number(last_seq), bytes: batch }))
    },
    async remove(seq, ageMs) {
      await postgres.run(
        `DELETE FROM ${schema}.cluster_log WHERE project = $1 AND last_seq <= $2 AND added_at < clock_timestamp() - $3 * interval '1 millisecond'`,
        [project, seq, ageMs],
      )
    },
  }
}
