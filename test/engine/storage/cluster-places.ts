import { type AttemptRows, allSetAside, attemptRows } from '../../../src/engine/storage/postgres/attempts.ts'
import type { Postgres } from '../../../src/engine/storage/postgres/client.ts'
import { type Lease, openPartitions } from '../../../src/engine/storage/postgres/partitions.ts'
import { type PluginVersions, versionsInPostgres } from '../../../src/engine/storage/postgres/plugin-changes.ts'
import { type TransformedRow, type TransformedRows, transformedRows } from '../../../src/engine/storage/postgres/transformed.ts'
import type { AttemptNote } from '../../../src/events/ingestion/ports.ts'

// What several servers share about one project, in PostgreSQL and as a model in memory: the same tests run on both.

export interface ClusterPlace {
  /** Null: another server has it. */
  take(holder: string): Promise<Lease | null>
  giveBack(lease: Lease): Promise<void>
  /** As if the time of the lease had passed. */
  expire(): Promise<void>
  state(): Promise<{
    readonly holder: string | null
    readonly deaths: number
    readonly attempt: AttemptNote | null
    readonly appliedSeq: number
  }>
  apply(seq: number): Promise<void>
  attempts(lease: Lease): AttemptRows
  aside(): Promise<readonly { readonly project: number; readonly records: readonly number[] }[]>
  /** Of records that are set aside. */
  texts(): Promise<readonly string[]>
  transformed(lease: Lease): TransformedRows
  transformedCount(): Promise<number>
  versions(holder: string): PluginVersions
  clear(): Promise<void>
}

export const project = 7

export function placeInPostgres(postgres: Postgres): ClusterPlace {
  const partitions = openPartitions(postgres)
  const tables = ['partitions', 'plugins', 'transformed', 'set_aside'] as const
  return {
    take: (holder) => partitions.take(project, holder, 60_000),
    giveBack: (lease) => partitions.giveBack(lease),
    expire: async () => void (await postgres.run("UPDATE waymark.cluster_partitions SET until = clock_timestamp() - interval '1 second'")),
    async state() {
      const [row] = await postgres.rows<{ holder: string | null; deaths: number; attempt: string | null; applied_seq: string }>(
        'SELECT holder, deaths, attempt, applied_seq FROM waymark.cluster_partitions',
      )
      const { holder, deaths, attempt, applied_seq } = row!
      return { holder, deaths, attempt: attempt === null ? null : JSON.parse(attempt), appliedSeq: Number(applied_seq) }
    },
    apply: async (seq) => void (await postgres.run('UPDATE waymark.cluster_partitions SET applied_seq = $1', [seq])),
    attempts: (lease) => attemptRows(postgres, lease),
    aside: () => allSetAside(postgres),
    texts: async () =>
      (await postgres.rows<{ record: string }>('SELECT record FROM waymark.cluster_set_aside ORDER BY seq')).map(({ record }) => record),
    transformed: (lease) => transformedRows(postgres, lease),
    transformedCount: async () => (await postgres.rows('SELECT 1 FROM waymark.cluster_transformed')).length,
    versions: (holder) => versionsInPostgres(postgres, holder),
    async clear() {
      for (const name of tables) await postgres.run(`DELETE FROM waymark.cluster_${name}`)
    },
  }
}

export function placeInMemory(): ClusterPlace {
  const none = {
    holder: null as string | null,
    isOver: true,
    isGivenBack: true,
    epoch: 0,
    deaths: 0,
    attempt: null as AttemptNote | null,
    appliedSeq: 0,
  }
  let partition = { ...none }
  let transformed: (TransformedRow & { readonly epoch: number })[] = []
  const aside = new Map<number, string>()
  const versions = new Map<number, { version: number; used: number }>()
  const later = () => new Promise<void>((resolve) => setImmediate(resolve))
  const holds = ({ holder, epoch }: Lease) => partition.holder === holder && partition.epoch === epoch
  return {
    async take(holder) {
      await later()
      if (partition.holder !== null && !partition.isOver) return null
      const { isGivenBack, deaths, epoch } = partition
      partition = { ...partition, holder, isOver: false, isGivenBack: false, epoch: epoch + 1, deaths: isGivenBack ? 0 : deaths + 1 }
      return { project, holder, epoch: partition.epoch }
    },
    async giveBack(lease) {
      if (holds(lease)) partition = { ...partition, holder: null, isGivenBack: true, deaths: 0, attempt: null }
    },
    async expire() {
      partition.isOver = true
    },
    state: async () => {
      const { holder, deaths, attempt, appliedSeq } = partition
      return { holder, deaths, attempt, appliedSeq }
    },
    async apply(seq) {
      partition.appliedSeq = seq
    },
    attempts: (lease) => ({
      read: async () => ({ ...partition, aside: [...aside.keys()] }),
      async note(attempt) {
        await later()
        if (holds(lease)) partition.attempt = attempt
      },
      setAside: async (seq, text) => aside.set(seq, text),
      place: 'memory',
    }),
    aside: async () => (aside.size === 0 ? [] : [{ project, records: [...aside.keys()].toSorted((a, b) => a - b) }]),
    texts: async () => [...aside].toSorted(([a], [b]) => a - b).map(([, text]) => text),
    transformed: (lease) => ({
      read: async () => [...transformed],
      async add(rows) {
        await later()
        if (!holds(lease)) return 0
        transformed.push(...rows.map((row) => ({ ...row, epoch: lease.epoch })))
        return rows.length
      },
      async release() {
        const hasResult = ({ range }: TransformedRow) =>
          transformed.some((one) => one.payloads !== null && one.range.firstSeq === range.firstSeq)
        transformed = transformed.filter((row) => row.epoch !== lease.epoch || row.payloads !== null || hasResult(row))
      },
      async forget(seq) {
        transformed = transformed.filter(({ range }) => range.firstSeq + range.count - 1 > seq)
      },
    }),
    transformedCount: async () => transformed.length,
    versions: (holder) => ({
      read: async (only) =>
        [...versions].filter(([id]) => only === undefined || id === only).map(([id, { version }]) => ({ project: id, version })),
      async countUp(projects) {
        await later()
        return projects.map((id) => {
          const known = versions.get(id) ?? { version: 0, used: 0 }
          versions.set(id, { ...known, version: known.version + 1 })
          return { project: id, version: known.version + 1 }
        })
      },
      async use(read) {
        await later()
        for (const { project: id, version } of read)
          if (id === project && partition.holder === holder) versions.get(id)!.used = Math.max(versions.get(id)!.used, version)
      },
      async isOlder(wanted) {
        const isHeld = partition.holder !== null && !partition.isOver
        return isHeld && wanted.some(({ project: id, version }) => id === project && versions.get(id)!.used < version)
      },
      async endOverdue(projects) {
        if (projects.includes(project) && partition.holder !== null && partition.isOver)
          partition = { ...partition, holder: null, epoch: partition.epoch + 1 }
      },
    }),
    async clear() {
      partition = { ...none }
      transformed = []
      aside.clear()
      versions.clear()
    },
  }
}
