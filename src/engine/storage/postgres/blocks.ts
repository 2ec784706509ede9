import type { Postgres } from './client.ts'
import { told } from './news.ts'
import type { Lease } from './partitions.ts'

/** Records `fromSeq` to `toSeq` of a project, as they are written into the store: the same rows with the same token at every attempt. */
export interface Block {
  readonly change: number
  readonly fromSeq: number
  readonly toSeq: number
  /** Number of its events. */
  readonly events: number
  readonly token: string
  /** Compressed. */
  readonly body: Buffer
}

/** A block that two holders have begun. */
export interface RepeatedBlock {
  readonly fromSeq: number
  readonly toSeq: number
  readonly events: number
  /** What its rows are replaced by at the moment; null: nothing. */
  readonly repair: Buffer | null
}

/** Null as an answer, or false: the lease is lost. */
export interface Blocks {
  /** The position, and the block that is not finished. */
  found(lease: Lease): Promise<{ readonly appliedSeq: number; readonly block: (Block & { readonly epoch: number }) | null } | null>
  begin(lease: Lease, block: Block): Promise<boolean>
  /** Moves the position to the end of the block. `outcomes`: of its changes, by their first records. */
  finish(lease: Lease, block: Block, outcomes: ReadonlyMap<number, string>): Promise<boolean>
  repeated(project: number): Promise<RepeatedBlock[]>
  setRepair(lease: Lease, fromSeq: number, repair: Buffer | null): Promise<boolean>
  /** Null: it is not known (any more). */
  outcome(project: number, firstSeq: number): Promise<string | null>
}

/** A holder that was stopped for longer may not find its rows again. */
const suspectFor = "interval '1 day'"
const outcomesFor = "interval '1 hour'"

export function openBlocks(postgres: Postgres): Blocks {
  const { schema } = postgres
  const ofLease = ({ project, epoch, holder }: Lease) => [project, epoch, holder] as const
  /** Locks the lease until the statement ends: it cannot be taken meanwhile. */
  const mine = `SELECT applied_seq FROM ${schema}.cluster_partitions WHERE project = $1 AND epoch = $2 AND holder = $3 FOR UPDATE`
  return {
    async found(lease) {
      const [position] = await postgres.rows<{ applied_seq: string }>(mine, ofLease(lease))
      if (!position) return null
      const [row] = await postgres.rows<Record<string, string> & { events: number; body: Buffer }>(
        `SELECT epoch, change, from_seq, to_seq, events, token, body FROM ${schema}.cluster_blocks WHERE project = $1`,
        [lease.project],
      )
      const block = row && {
        epoch: Number(row.epoch),
        change: Number(row.change),
        fromSeq: Number(row.from_seq),
        toSeq: Number(row.to_seq),
        events: row.events,
        token: row.token!,
        body: row.body,
      }
      return { appliedSeq: Number(position.applied_seq), block: block ?? null }
    },
    async begin(lease, { change, fromSeq, toSeq, events, token, body }) {
      const begun = await postgres.run(
        `WITH mine AS (${mine})
         INSERT INTO ${schema}.cluster_blocks (project, epoch, change, from_seq, to_seq, events, token, body)
         SELECT $1, $2, $4::bigint, $5::bigint, $6::bigint, $7::integer, $8::text, $9::bytea FROM mine`,
        [...ofLease(lease), change, fromSeq, toSeq, events, token, body],
      )
      return begun > 0
    },
    async finish(lease, { change, fromSeq, toSeq, events }, outcomes) {
      const moved = await postgres.rows(
        `WITH mine AS (
           UPDATE ${schema}.cluster_partitions SET applied_seq = greatest(applied_seq, $5::bigint) WHERE project = $1 AND epoch = $2 AND holder = $3
           RETURNING applied_seq),
         gone AS (DELETE FROM ${schema}.cluster_blocks WHERE project = $1 AND change = $4 AND EXISTS (SELECT FROM mine) RETURNING epoch),
         doubtful AS (
           INSERT INTO ${schema}.cluster_repeated_blocks (project, from_seq, to_seq, events)
           SELECT $1, $6::bigint, $5::bigint, $7::integer FROM gone WHERE gone.epoch <> $2 AND $7::integer > 0 ON CONFLICT DO NOTHING),
         known AS (
           INSERT INTO ${schema}.cluster_outcomes (project, first_seq, outcome)
           SELECT $1, first_seq, outcome FROM unnest($8::bigint[], $9::text[]) AS o (first_seq, outcome), mine ON CONFLICT DO NOTHING),
         sure AS (DELETE FROM ${schema}.cluster_repeated_blocks WHERE project = $1 AND repeated_at < clock_timestamp() - ${suspectFor}),
         old AS (DELETE FROM ${schema}.cluster_outcomes WHERE project = $1 AND applied_at < clock_timestamp() - ${outcomesFor})
         SELECT ${told(schema, 'applied', '$1::integer', 'applied_seq')} FROM mine`,
        [...ofLease(lease), change, toSeq, fromSeq, events, [...outcomes.keys()], [...outcomes.values()]],
      )
      return moved.length > 0
    },
    async repeated(project) {
      const rows = await postgres.rows<{ from_seq: string; to_seq: string; events: number; repair: Buffer | null }>(
        `SELECT from_seq, to_seq, events, repair FROM ${schema}.cluster_repeated_blocks WHERE project = $1`,
        [project],
      )
      return rows.map(({ from_seq, to_seq, events, repair }) => ({ fromSeq: Number(from_seq), toSeq: Number(to_seq), events, repair }))
    },
    async setRepair(lease, fromSeq, repair) {
      const changed = await postgres.run(
        `WITH mine AS (${mine})
         UPDATE ${schema}.cluster_repeated_blocks SET repair = $5::bytea FROM mine WHERE project = $1 AND from_seq = $4`,
        [...ofLease(lease), fromSeq, repair],
      )
      return changed > 0
    },
    async outcome(project, firstSeq) {
      const [row] = await postgres.rows<{ outcome: string }>(
        `SELECT outcome FROM ${schema}.cluster_outcomes WHERE project = $1 AND first_seq = $2`,
        [project, firstSeq],
      )
      return row?.outcome ?? null
    },
  }
}
