import type { Postgres } from './client.ts'
import { told } from './news.ts'

/** Who applies the log of a project, and since when: every holder has an epoch of its own. */
export interface Lease {
  readonly project: number
  readonly holder: string
  readonly epoch: number
}

/** The log of a project as all servers see it. */
export interface PartitionState {
  readonly project: number
  readonly lastSeq: number
  readonly appliedSeq: number
  /** Nobody applies it, or its holder has not renewed the lease in time. */
  readonly isFree: boolean
}

/** Leases are taken and end by the clock of the database. */
export interface Partitions {
  /** Null: another server has it. */
  take(project: number, holder: string, ms: number): Promise<Lease | null>
  /** Returns those that are still held. */
  renew(leases: readonly Lease[], ms: number): Promise<readonly Lease[]>
  giveBack(lease: Lease): Promise<void>
  look(projects: readonly number[]): Promise<PartitionState[]>
  /** Projects with records that nobody applies. */
  orphans(): Promise<number[]>
  /** Says that a query waits. */
  want(project: number, seq: number): Promise<void>
  /** A number for changes of the rows in the store, higher than all before it. */
  nextChange(project: number): Promise<number>
  /** Nothing of the project is left here, and its holder loses it. */
  remove(project: number): Promise<void>
}

const span = (param: string) => `${param} * interval '1 millisecond'`
const isFree = '(p.holder IS NULL OR p.until < clock_timestamp())'

export function openPartitions(postgres: Postgres): Partitions {
  const { schema } = postgres
  const table = `${schema}.cluster_partitions`
  return {
    async take(project, holder, ms) {
      const [found] = await postgres.rows<{ epoch: string }>(
        `INSERT INTO ${table} AS p (project, epoch, holder, until) VALUES ($1, 1, $2, clock_timestamp() + ${span('$3')})
         ON CONFLICT (project) DO UPDATE SET epoch = p.epoch + 1, holder = $2, until = clock_timestamp() + ${span('$3')},
           deaths = CASE WHEN p.until IS NULL THEN 0 ELSE p.deaths + 1 END WHERE ${isFree}
         RETURNING epoch`,
        [project, holder, ms],
      )
      return found ? { project, holder, epoch: Number(found.epoch) } : null
    },
    async renew(leases, ms) {
      if (leases.length === 0) return []
      const found = await postgres.rows<{ project: number; epoch: string }>(
        `UPDATE ${table} AS p SET until = clock_timestamp() + ${span('$1')}
         FROM unnest($2::integer[], $3::bigint[], $4::text[]) AS held (project, epoch, holder)
         WHERE p.project = held.project AND p.epoch = held.epoch AND p.holder = held.holder RETURNING p.project, p.epoch`,
        [ms, leases.map(({ project }) => project), leases.map(({ epoch }) => epoch), leases.map(({ holder }) => holder)],
      )
      const kept = new Set(found.map(({ project, epoch }) => `${project} ${epoch}`))
      return leases.filter(({ project, epoch }) => kept.has(`${project} ${epoch}`))
    },
    async giveBack({ project, holder, epoch }) {
      await postgres.rows(
        `WITH freed AS (UPDATE ${table} SET holder = NULL, until = NULL, deaths = 0, attempt = NULL WHERE project = $1 AND epoch = $2 AND holder = $3 RETURNING applied_seq)
         SELECT ${told(schema, 'free', '$1::integer', 'applied_seq')} FROM freed`,
        [project, epoch, holder],
      )
    },
    async look(projects) {
      if (projects.length === 0) return []
      const found = await postgres.rows<{ project: number; last_seq: string; applied_seq: string; is_free: boolean }>(
        `SELECT w.project, coalesce(e.last_seq, 0) AS last_seq, coalesce(p.applied_seq, 0) AS applied_seq, (p.project IS NULL OR ${isFree}) AS is_free
         FROM unnest($1::integer[]) AS w (project)
         LEFT JOIN ${schema}.cluster_log_ends AS e ON e.project = w.project LEFT JOIN ${table} AS p ON p.project = w.project`,
        [projects],
      )
      return found.map(({ project, last_seq, applied_seq, is_free }) => ({
        project,
        lastSeq: Number(last_seq),
        appliedSeq: Number(applied_seq),
        isFree: is_free,
      }))
    },
    async orphans() {
      const found = await postgres.rows<{ project: number }>(
        `SELECT e.project FROM ${schema}.cluster_log_ends AS e LEFT JOIN ${table} AS p ON p.project = e.project
         WHERE e.last_seq > coalesce(p.applied_seq, 0) AND (p.project IS NULL OR ${isFree})`,
      )
      return found.map(({ project }) => project)
    },
    async want(project, seq) {
      await postgres.rows(`SELECT ${told(schema, 'wanted', '$1::integer', '$2::bigint')}`, [project, seq])
    },
    async nextChange(project) {
      const [found] = await postgres.rows<{ last_change: string }>(
        `INSERT INTO ${table} AS p (project, last_change) VALUES ($1, 1)
         ON CONFLICT (project) DO UPDATE SET last_change = p.last_change + 1 RETURNING last_change`,
        [project],
      )
      return Number(found!.last_change)
    },
    remove: (project) =>
      postgres.transaction(async (on) => {
        const names = ['partitions', 'blocks', 'repeated_blocks', 'outcomes', 'answers', 'transformed', 'set_aside', 'log', 'log_ends']
        for (const name of names) await on.run(`DELETE FROM ${schema}.cluster_${name} WHERE project = $1`, [project])
        await on.run(`DELETE FROM ${schema}.cluster_plugin_storage WHERE scope LIKE $1`, [`${project}/%`])
      }),
  }
}
