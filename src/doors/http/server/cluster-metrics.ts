import type { ClusterFigures } from '../../../engine.ts'
import type { HistogramCounts } from '../../../lib/numbers/histogram.ts'
import { histogramOf, type Metric, many, one, type Sample } from './metric-text.ts'

// What one of several servers says of the engines that it shares with the others. docs/operations.md has the same list.

/** Projects with samples of their own: those with the largest lag. */
const mostProjects = 100

type Partition = NonNullable<ClusterFigures['log']>['partitions'][number]
const lagOf = ({ lastSeq, appliedSeq }: Partition) => Math.max(0, lastSeq - appliedSeq)
const hasLease = ({ leaseSeconds }: Partition) => leaseSeconds !== null && leaseSeconds > 0

function logMetrics({ log, holder }: ClusterFigures): readonly Metric[] {
  if (!log) return []
  const shown = [...log.partitions].sort((a, b) => lagOf(b) - lagOf(a) || a.project - b.project).slice(0, mostProjects)
  const each = (value: (partition: Partition) => number): Sample[] =>
    shown.map((partition) => ({ labels: { project: partition.project }, value: value(partition) }))
  return [
    many(
      'waymark_cluster_lag_records',
      'gauge',
      'Records that are acknowledged and not applied, of the 100 projects with most.',
      each(lagOf),
    ),
    many(
      'waymark_cluster_oldest_record_seconds',
      'gauge',
      'Age of the oldest record that is not applied; 0: all are.',
      each(({ waitingSeconds }) => waitingSeconds ?? 0),
    ),
    many(
      'waymark_cluster_lease_held',
      'gauge',
      '1: this server applies the project; 0: another one does, or nobody.',
      each((partition) => (hasLease(partition) && partition.holder === holder ? 1 : 0)),
    ),
    many(
      'waymark_cluster_lease_epoch',
      'gauge',
      'How often the project was taken over by a server that applies it.',
      each(({ epoch }) => epoch),
    ),
    one(
      'waymark_cluster_unapplied_projects',
      'gauge',
      'Projects with records that no server applies.',
      log.partitions.filter((partition) => lagOf(partition) > 0 && !hasLease(partition)).length,
    ),
    one('waymark_cluster_log_bytes', 'gauge', 'Bytes of the log in PostgreSQL.', log.bytes),
  ]
}

const counted = (name: string, help: string, { sum: seconds, ...counts }: HistogramCounts): Metric =>
  many(name, 'histogram', help, histogramOf({}, { bounds: counts.bounds, buckets: counts.buckets, count: counts.count, seconds }))

export function clusterMetrics(figures: ClusterFigures): readonly Metric[] {
  const { accounts, store, blocks, tables, replicas } = figures
  const parts = [accounts, store]
  return [
    many(
      'waymark_cluster_reachable',
      'gauge',
      '1: the engine answered when this server looked last.',
      parts.map(({ part, isReachable }) => ({ labels: { part }, value: isReachable ? 1 : 0 })),
    ),
    many(
      'waymark_cluster_look_seconds',
      'gauge',
      'Time of the last look at the engine.',
      parts.map(({ part, seconds }) => ({ labels: { part }, value: seconds })),
    ),
    ...logMetrics(figures),
    counted(
      'waymark_cluster_block_seconds',
      'Time to write a block, from its row in PostgreSQL to the move of the position.',
      blocks.seconds,
    ),
    counted('waymark_cluster_insert_events', 'Events of an insert into ClickHouse.', blocks.events),
    counted('waymark_cluster_insert_bytes', 'Bytes of an insert into ClickHouse.', blocks.bytes),
    many(
      'waymark_cluster_table_parts',
      'gauge',
      'Active parts of a table in ClickHouse, read every 30 seconds at most.',
      tables.map(({ table, parts: value }) => ({ labels: { table }, value })),
    ),
    many(
      'waymark_cluster_table_bytes',
      'gauge',
      'Bytes of a table in ClickHouse, read every 30 seconds at most.',
      tables.map(({ table, bytes: value }) => ({ labels: { table }, value })),
    ),
    many(
      'waymark_cluster_replica_delay_seconds',
      'gauge',
      'Delay of a replica of a table in ClickHouse, where tables are replicated.',
      replicas.map(({ table, delaySeconds: value }) => ({ labels: { table }, value })),
    ),
  ].filter(({ samples }) => samples.length > 0)
}
