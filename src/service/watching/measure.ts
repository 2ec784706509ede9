import type { AccountStore, PluginConfig, PluginDelivery, ServerHours } from '../accounts/records.ts'
import { type FreeBytes, sampled, timeUntilFull } from './disk-forecast.ts'
import type { EventRates } from './event-rates.ts'
import { hourOf } from './hours.ts'
import type { FailingExport, FailingPlugin, Measured } from './measured.ts'
import type { WatchName } from './names.ts'
import type { WatchedServer } from './watched-server.ts'

// Measures everything that conditions are about, of all projects at once: from counts in memory, from tables in memory, and by a few bounded statements.

export const serverRow = 'server'

/** With a longer break between two checks the server was not running: silence begins again. */
const breakMs = 10 * 60_000
const mostRead = 500
/** Plugins with failed deliveries are looked for in so many statements at most. */
const mostRounds = 10
const deliveredHours = 2
/** Failed attempts of a run; more of them say no more. */
const failedAttempts = Array.from({ length: 17 }, (_, i) => i + 4)

export interface MeasureParts {
  readonly read: AccountStore['read']
  readonly rates: EventRates
  readonly server: WatchedServer
  /** When this process began. */
  readonly began: number
  report(error: unknown): void
}

async function exportsOf(read: AccountStore['read']): Promise<readonly FailingExport[]> {
  const all = await read.batch_exports.find({ is_deleted: false })
  if (all.length === 0) return []
  const retried = await read.batch_export_runs.find({ status: ['Starting', 'Running'], failures: failedAttempts }, { limit: mostRead })
  const runs = new Map(retried.map((run) => [run.batch_export_id, run]))
  return Promise.all(
    all.map(async ({ id, project_id: project, name, failed_runs: failedRuns, paused_reason: pausedReason }) => {
      const ended = { newestFirst: 'created_at', limit: 1 } as const
      const hasFailed = failedRuns > 0
      const failed = hasFailed
        ? (await read.batch_export_runs.find({ batch_export_id: id, status: ['Failed', 'FailedRetryable'] }, ended))[0]
        : undefined
      const run = runs.get(id) ?? failed
      const attempts = runs.get(id)?.failures ?? 0
      return { project, id, name, failedRuns, failedAttempts: attempts, pausedReason, latestError: run?.latest_error ?? null }
    }),
  )
}

/** Events that were given up, and delivered, in the last hours. */
function countsOf({ counts }: PluginDelivery, hour: number): { readonly dead: number; readonly delivered: number } {
  const known = counts as Readonly<Record<string, readonly [delivered: number, failed: number]>>
  const recent = Array.from({ length: deliveredHours }, (_, i) => known[hour - i] ?? [0, 0])
  const sum = (of: 0 | 1) => recent.reduce((all, one) => all + (one[of] ?? 0), 0)
  return { delivered: sum(0), dead: sum(1) }
}

/** The oldest failed delivery of each config that is tried again. */
async function waitingFailures(read: AccountStore['read'], configs: readonly number[]) {
  const oldest = new Map<number, { readonly since: number; readonly error: string }>()
  let left = configs
  for (let round = 0; round < mostRounds && left.length > 0; round++) {
    const found = await read.plugin_failed_deliveries.find(
      { plugin_config_id: left, status: 'waiting' },
      { orderBy: [{ column: 'created_at' }], limit: mostRead },
    )
    for (const { plugin_config_id: id, created_at, latest_error } of found)
      if (!oldest.has(id)) oldest.set(id, { since: created_at.getTime(), error: latest_error })
    if (found.length < mostRead) break
    left = left.filter((id) => !oldest.has(id))
  }
  return oldest
}

async function pluginsOf(read: AccountStore['read'], server: WatchedServer, now: number): Promise<readonly FailingPlugin[]> {
  const configs = await read.plugin_configs.find({ is_deleted: false })
  if (configs.length === 0) return []
  const names = new Map((await read.plugins.find({})).map(({ id, name }) => [id, name]))
  const deliveries = new Map((await read.plugin_deliveries.find({})).map((row) => [row.plugin_config_id, row]))
  const failing = await waitingFailures(
    read,
    configs.flatMap(({ id, enabled }) => (enabled && deliveries.has(id) ? [id] : [])),
  )
  const nameOf = ({ name, plugin_id, id }: PluginConfig) => name || names.get(plugin_id) || String(id)
  return configs.map((config) => {
    const { id, project_id: project, enabled } = config
    const delivery = enabled ? deliveries.get(id) : undefined
    const counts = delivery ? countsOf(delivery, hourOf(now)) : { dead: 0, delivered: 0 }
    const failed = failing.get(id)
    const problem = server.pluginProblem(config)
    return {
      project,
      id: String(id),
      name: nameOf(config),
      problem,
      failingSince: failed?.since ?? null,
      latestError: failed?.error ?? null,
      ...counts,
    }
  })
}

/** What cannot be measured is reported, and everything else is still watched. */
const guardedBy =
  (report: (error: unknown) => void, unknown: Set<WatchName>) =>
  async <T>(name: WatchName, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      report(error)
      unknown.add(name)
      return otherwise
    }
  }

export interface Check {
  readonly measured: Measured
  readonly server: ServerHours
}

/** `known`: what was stored about the server by the last check. */
export async function measureAll(
  { read, rates, server, began, report }: MeasureParts,
  known: ServerHours | undefined,
  now: number,
): Promise<Check> {
  const unknown = new Set<WatchName>()
  const guarded = guardedBy(report, unknown)
  const hour = hourOf(now)
  const isOn = known !== undefined && Math.abs(began - known.checked_at.getTime()) < breakMs
  const isOwn = known !== undefined && known.checked_at.getTime() >= began
  const upSince = isOwn || isOn ? known.up_since.getTime() : began
  const space = await guarded('disk', () => server.disk(), null)
  const before = (known?.free_bytes ?? []) as FreeBytes
  const samples = space ? sampled(known?.latest_hour ?? hour, before, hour, space.freeBytes) : before
  const disk = space && { freeBytes: space.freeBytes, untilFullMs: timeUntilFull(samples, space.freeBytes, space.minFreeBytes) }
  const measured: Measured = {
    now,
    upSince,
    rates: await rates.all(),
    quotas: await guarded('quota', () => server.quotas(), []),
    exports: await guarded('export', () => exportsOf(read), []),
    plugins: await guarded('plugin', () => pluginsOf(read, server, now), []),
    backup: await guarded('backup', () => server.backups(), null),
    disk,
    unknown,
  }
  return {
    measured,
    server: {
      id: serverRow,
      checked_at: new Date(now),
      up_since: new Date(upSince),
      latest_hour: space ? Math.max(hour, known?.latest_hour ?? hour) : (known?.latest_hour ?? hour),
      free_bytes: samples,
    },
  }
}
