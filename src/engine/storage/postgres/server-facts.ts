import type { Postgres } from './client.ts'

// PostgreSQL and the log in it, for operators. Nothing here changes anything.

/** The log of a project, and who applies it. */
export interface PartitionFacts {
  readonly project: number
  readonly lastSeq: number
  readonly appliedSeq: number
  readonly epoch: number
  /** The server with the lease, or the last one that had it. Null: it was given back. */
  readonly holder: string | null
  /** Until the lease ends; not above 0: it has ended. Null: nobody has it. */
  readonly leaseSeconds: number | null
  /** Since the oldest record that is not applied was acknowledged. Null: all are applied. */
  readonly waitingSeconds: number | null
}

export interface LogFacts {
  readonly partitions: readonly PartitionFacts[]
  /** Bytes of the log on the disk. */
  readonly bytes: number
}

export async function readLogFacts(postgres: Postgres): Promise<LogFacts> {
  const { schema } = postgres
  const rows = await postgres.rows<{
    project: number
    last_seq: string
    applied_seq: string
    epoch: string
    holder: string | null
    lease_seconds: number | null
    waiting_seconds: number | null
  }>(
    `WITH one AS (
       SELECT project, coalesce(e.last_seq, 0) AS last_seq, coalesce(p.applied_seq, 0) AS applied_seq, coalesce(p.epoch, 0) AS epoch, p.holder, p.until
       FROM ${schema}.cluster_log_ends AS e FULL JOIN ${schema}.cluster_partitions AS p USING (project))
     SELECT one.project, last_seq, applied_seq, epoch, holder,
       CASE WHEN holder IS NOT NULL THEN extract(epoch FROM until - clock_timestamp())::float8 END AS lease_seconds,
       CASE WHEN last_seq > applied_seq THEN (
         SELECT greatest(0, extract(epoch FROM clock_timestamp() - l.added_at))::float8 FROM ${schema}.cluster_log AS l
         WHERE l.project = one.project AND l.first_seq >= coalesce(
           (SELECT max(b.first_seq) FROM ${schema}.cluster_log AS b WHERE b.project = one.project AND b.first_seq <= applied_seq + 1), 0)
         ORDER BY l.first_seq LIMIT 1) END AS waiting_seconds
     FROM one ORDER BY one.project`,
  )
  const [size] = await postgres.rows<{ bytes: string }>(`SELECT pg_total_relation_size('${schema}.cluster_log') AS bytes`)
  return {
    bytes: Number(size!.bytes),
    partitions: rows.map(({ project, last_seq, applied_seq, epoch, holder, lease_seconds, waiting_seconds }) => ({
      project,
      lastSeq: Number(last_seq),
      appliedSeq: Number(applied_seq),
      epoch: Number(epoch),
      holder,
      leaseSeconds: lease_seconds,
      waitingSeconds: waiting_seconds,
    })),
  }
}
