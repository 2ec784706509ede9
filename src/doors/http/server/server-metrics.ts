import type { ObservedQueries } from '../../../service/asking/observed-queries.ts'
import type { App } from '../app.ts'
import { clusterMetrics } from './cluster-metrics.ts'
import { accountsOf, type Figures } from './figures.ts'
import { histogramOf, type Metric, many, one, type Sample } from './metric-text.ts'

// What /metrics says of the server, beside its requests. docs/operations.md has the same list, with what to look at.

const by = (label: string, counts: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

const eventMetrics = ({ events, lag }: Figures): readonly Metric[] => [
  many('waymark_events_accepted_total', 'counter', 'Events acknowledged, as they happened or from imports of the past.', [
    { labels: { of: 'now' }, value: events.live },
    { labels: { of: 'past' }, value: events.past },
  ]),
  one('waymark_events_duplicate_total', 'counter', 'Events that were stored before, where that is counted.', events.duplicates),
  one('waymark_events_dropped_total', 'counter', 'Events that were left out with a warning.', events.dropped),
  one('waymark_lag_records', 'gauge', 'Records that are acknowledged and not applied.', lag),
]

function queryMetrics({ queries, running, statements }: Figures, { timings }: ObservedQueries): readonly Metric[] {
  const { slow, ...outcomes } = queries
  const projects = [...timings.projects].flatMap(([project, { seconds, count }]): Sample[] => [
    { suffix: '_sum', labels: { project }, value: seconds },
    { suffix: '_count', labels: { project }, value: count },
  ])
  return [
    many(
      'waymark_query_seconds',
      'histogram',
      'Time of queries that were computed, by their kind.',
      [...timings.kinds].flatMap(([kind, timing]) => histogramOf({ kind }, timing)),
    ),
    many(
      'waymark_project_query_seconds_total',
      'counter',
      'Seconds of queries that were computed, for the first 100 projects each, others together.',
      projects.filter(({ suffix }) => suffix === '_sum').map(({ suffix: _, ...sample }) => sample),
    ),
    many(
      'waymark_project_queries_total',
      'counter',
      'Queries that were computed, for the first 100 projects each, others together.',
      projects.filter(({ suffix }) => suffix === '_count').map(({ suffix: _, ...sample }) => sample),
    ),
    many('waymark_queries_total', 'counter', 'Queries that have ended, by their outcome.', by('outcome', outcomes)),
    one('waymark_slow_queries_total', 'counter', 'Queries that took longer than --slow-query.', slow),
    one('waymark_queries_running', 'gauge', 'Queries in progress, waiting ones too.', running.length),
    one('waymark_statements_waiting', 'gauge', 'Statements that wait for an execution slot.', statements.waiting),
    one('waymark_statements_running', 'gauge', 'Statements that have an execution slot.', statements.running),
  ]
}

/** A disk that does not fill has no end. */
const diskMetrics = ({ disk }: Figures): readonly Metric[] =>
  disk === null
    ? []
    : [
        one('waymark_disk_free_bytes', 'gauge', 'Free bytes of the disk of the data directory.', disk.freeBytes),
        one('waymark_disk_min_free_bytes', 'gauge', 'Free bytes below which events are refused.', disk.minFreeBytes),
        one(
          'waymark_disk_full_seconds',
          'gauge',
          'Seconds until events are refused, at the rate of the last days; +Inf: the disk does not fill, or too little is known.',
          disk.untilFullSeconds ?? Number.POSITIVE_INFINITY,
        ),
      ]

const resourceMetrics = ({ memory, memoryLimits, projects, jobs, problems }: Figures): readonly Metric[] => [
  many(
    'waymark_memory_bytes',
    'gauge',
    'Memory: of the process with the stores (engine), of this one (server), and of its heap and buffers.',
    by('part', memory),
  ),
  many('waymark_memory_limit_bytes', 'gauge', 'Limits of memory.', by('part', memoryLimits)),
  one('waymark_projects_open', 'gauge', 'Stores that are open.', projects.open),
  one('waymark_projects_failed', 'gauge', 'Projects that cannot be opened, or do not apply their events.', projects.failed),
  many(
    'waymark_jobs',
    'gauge',
    'Due work by its kind: what is being done, and what waits after a failure.',
    Object.entries(jobs).flatMap(([kind, { running, resting }]) => [
      { labels: { kind, state: 'running' }, value: running },
      { labels: { kind, state: 'resting' }, value: resting },
    ]),
  ),
  many('waymark_problems', 'gauge', 'Problems that owners get mails about, and that go on.', by('watch', problems)),
]

function backupMetrics({ backup }: Figures): readonly Metric[] {
  if (!backup) return []
  const seconds = (time: number | null) => (time === null ? 0 : Math.floor(time / 1000))
  return [
    one(
      'waymark_backup_timestamp_seconds',
      'gauge',
      'Everything acknowledged before is in the newest copy; 0: there is none.',
      seconds(backup.copiedAt),
    ),
    one(
      'waymark_backup_verified_timestamp_seconds',
      'gauge',
      'The time of the newest copy that was verified; 0: there is none.',
      seconds(backup.verifiedAt),
    ),
    one('waymark_backup_failures', 'gauge', 'Attempts that failed since the newest copy, and a verification that failed.', backup.failures),
  ]
}

export async function serverMetrics(app: App): Promise<readonly Metric[]> {
  const readiness = await app.readiness()
  const figures = await app.figures()
  const ofAccounts = accountsOf(figures.cluster)
  const failed = await ofAccounts(() => app.plugins.failedDeliveries.counts(), null)
  const notices = await ofAccounts(() => app.notifications.deliveries.counts(), null)
  const { records_set_aside: aside, engine_ends: ends } = readiness.checks
  return [
    one('waymark_ready', 'gauge', '1: the server accepts events and answers queries.', readiness.isReady ? 1 : 0),
    ...eventMetrics(figures),
    ...queryMetrics(figures, app.asking.observed),
    ...resourceMetrics(figures),
    ...diskMetrics(figures),
    ...backupMetrics(figures),
    one('waymark_records_set_aside', 'gauge', 'Records that ended the engine whenever they were applied.', Number(aside?.detail ?? 0)),
    one('waymark_engine_ends', 'gauge', 'How often the engine ended by itself within the last minute.', Number(ends?.detail ?? 0)),
    ...(failed
      ? [
          one('waymark_deliveries_waiting', 'gauge', 'Events whose delivery to a plugin failed and is tried again.', failed.waiting),
          one('waymark_dead_letters', 'gauge', 'Events whose delivery to a plugin was given up.', failed.dead),
        ]
      : []),
    ...(notices
      ? [
          one('waymark_notices_waiting', 'gauge', 'Mails and webhooks that wait.', notices.waiting),
          one('waymark_notices_failed', 'gauge', 'Mails and webhooks that were given up.', notices.failed),
        ]
      : []),
    ...(figures.cluster ? clusterMetrics(figures.cluster) : []),
  ]
}
