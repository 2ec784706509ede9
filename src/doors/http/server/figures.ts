import type { ClusterFigures, LocalWaymark } from '../../../engine.ts'
import { type WatchName, watchNames } from '../../../service/watching/names.ts'

// What a server is doing, as numbers: for /metrics and for `waymark top`.

export interface Figures {
  /** Epoch milliseconds. */
  readonly time: number
  /** Since this process began. */
  readonly events: { readonly live: number; readonly past: number; readonly duplicates: number; readonly dropped: number }
  readonly lag: number
  readonly statements: { readonly waiting: number; readonly running: number }
  /** Those that run, the longest first. */
  readonly running: readonly RunningFigure[]
  readonly queries: { readonly answered: number; readonly failed: number; readonly cancelled: number; readonly slow: number }
  readonly projects: { readonly open: number; readonly failed: number }
  readonly memory: Readonly<Partial<Record<MemoryPart, number>>>
  readonly memoryLimits: { readonly store: number }
  /** Null: nothing is on a disk. `untilFullSeconds`: null: it does not fill, or too little is known. */
  readonly disk: { readonly freeBytes: number; readonly minFreeBytes: number; readonly untilFullSeconds: number | null } | null
  /** Due work by its kind: what is being done, and what waits after a failure. */
  readonly jobs: Readonly<Record<string, { readonly running: number; readonly resting: number }>>
  /** Problems that owners are notified of, and that go on. */
  readonly problems: Readonly<Partial<Record<WatchName, number>>>
  /** What several servers share; null: this one is alone. */
  readonly cluster: ClusterFigures | null
  readonly backup: { readonly copiedAt: number | null; readonly verifiedAt: number | null; readonly failures: number } | null
}

/** `server`: this process, `heap` and `buffers` are parts of it; `engine`: the process with the stores. */
export type MemoryPart = 'server' | 'heap' | 'buffers' | 'engine'

export interface RunningFigure {
  readonly project: number
  readonly kind: string
  readonly form: string
  readonly caller: string
  readonly seconds: number
}

const mostLeases = 10_000

async function jobsOf(waymark: LocalWaymark): Promise<Figures['jobs']> {
  const now = waymark.clock()
  const leases = await waymark.accounts.context.store.read.leases.find({}, { between: { until: { from: now } }, limit: mostLeases })
  const jobs: Record<string, { running: number; resting: number }> = {}
  for (const { kind, owner } of leases) {
    const one = jobs[kind] ?? { running: 0, resting: 0 }
    jobs[kind] = one
    one[owner === null ? 'resting' : 'running']++
  }
  return jobs
}

async function problemsOf(waymark: LocalWaymark): Promise<Figures['problems']> {
  const going = await waymark.accounts.context.store.read.watch_states.find({ ended_at: null })
  return Object.fromEntries(watchNames.map((name) => [name, going.filter(({ watch }) => watch === name).length])) as Figures['problems']
}

function runningOf({ asking }: LocalWaymark): readonly RunningFigure[] {
  const now = performance.now()
  return [...asking.observed.running]
    .sort((a, b) => a.since - b.since)
    .map(({ project, kind, form, caller, since }) => ({ project, kind, form, caller, seconds: (now - since) / 1000 }))
}

async function backupOf({ scheduledBackups }: LocalWaymark): Promise<Figures['backup']> {
  const status = await scheduledBackups?.status()
  if (!status) return null
  const failures = status.failures + (status.verify_error === null ? 0 : 1)
  return { copiedAt: status.copied_at?.getTime() ?? null, verifiedAt: status.verified_at?.getTime() ?? null, failures }
}

/** Account data is in PostgreSQL where several servers share it, and may be out of reach: then it has no figures. */
export const accountsOf =
  (cluster: ClusterFigures | null) =>
  async <T>(read: () => Promise<T>, otherwise: T): Promise<T> => {
    if (!cluster) return read()
    return cluster.accounts.isReachable ? read().catch(() => otherwise) : otherwise
  }

export async function figuresOf(waymark: LocalWaymark): Promise<Figures> {
  const { rss, heapUsed, external } = process.memoryUsage()
  const [condition, engine] = [await waymark.condition(), await waymark.engineBytes()]
  const { freeBytes, minFreeBytes, lag, projects, failures } = condition
  const cluster = await waymark.clusterFigures()
  const ofAccounts = accountsOf(cluster)
  const untilFullMs = waymark.watching.latest?.disk?.untilFullMs ?? null
  return {
    time: waymark.clock().getTime(),
    events: { ...waymark.watching.arrived },
    lag,
    statements: waymark.asking.load(),
    running: runningOf(waymark),
    queries: { ...waymark.asking.observed.timings.outcomes, slow: waymark.slowQueries.count },
    projects: { open: projects, failed: failures.length },
    memory: { server: rss, heap: heapUsed, buffers: external, ...(engine !== null && { engine }) },
    memoryLimits: { store: waymark.memoryLimit },
    disk: freeBytes === null ? null : { freeBytes, minFreeBytes, untilFullSeconds: untilFullMs === null ? null : untilFullMs / 1000 },
    jobs: await ofAccounts(() => jobsOf(waymark), {}),
    problems: await ofAccounts(() => problemsOf(waymark), {}),
    cluster,
    backup: await backupOf(waymark),
  }
}
