import type { AccountContext } from '../accounts/context.ts'
import type { AccountTables, DashboardTile, Insight, InsightRefresh, ProjectRecord } from '../accounts/records.ts'
import { WaymarkError } from '../errors/errors.ts'
import type { Answers, InsightAnswer } from './answers.ts'

// Refreshes the answers that people look at when they become too old. What is due is in a table, so it goes on after a restart. Few answers are
// computed at a time, as queries that nobody waits for.

const hour = 3_600_000
const day = 24 * hour
/** After this time without a look, an answer is no longer refreshed. */
const lookedAtFor = 14 * day
/** How often a look is written. */
const notedEvery = hour
/** A process that has not finished a refresh by then has ended. */
const leaseMs = hour / 6
/** An answer that is missing shortly after it was computed is too large to be cached. */
const keptAtLeast = hour / 12
const leastMs = 60_000
const atOnce = 2
const mostDue = 100

interface Parts {
  readonly context: Pick<AccountContext, 'store' | 'clock' | 'newId'>
  readonly answers: Answers
  report(error: unknown): void
  /** Something may be due. */
  wake(): void
}

/** What somebody looked at, and the answer that was shown. */
export interface Looked {
  readonly insight: Pick<Insight, 'id'>
  readonly answer: InsightAnswer
}

const targetOf = ({ answer }: InsightAnswer, now: Date): Date => {
  if (!answer) return now
  const { cache_target_age: at } = answer.object as { readonly cache_target_age?: string | null }
  return typeof at === 'string' ? new Date(Math.max(Date.parse(at), now.getTime())) : new Date(now.getTime() + day)
}

export const createRefresher = ({ context, answers, report, wake }: Parts) => {
  const { store, clock, newId } = context
  const { read } = store
  const running = new Map<string, { readonly projectId: number; readonly done: Promise<void> }>()
  const stop = new AbortController()
  let ticking: Promise<number> = Promise.resolve(0)

  /** Takes what is due; null if another process was faster. */
  const claim = (row: InsightRefresh): Promise<InsightRefresh | null> =>
    store.write(async (tables) => {
      const current = await tables.insight_refreshes.first({ id: row.id })
      if (!current || current.due_at.getTime() > clock().getTime()) return null
      await tables.insight_refreshes.update({ id: row.id }, { due_at: new Date(clock().getTime() + leaseMs) })
      return current
    })

  /** Where it is shown; null: nowhere any more. */
  const placeOf = async ({ project_id, insight_id, dashboard_id }: InsightRefresh) => {
    const project = await read.projects.first({ id: project_id })
    const insight = await read.insights.first({ id: insight_id, project_id, deleted: false })
    if (!project || !insight) return null
    if (dashboard_id === null) return { project, insight }
    const dashboard = await read.dashboards.first({ id: dashboard_id, project_id, deleted: [false, null] })
    const tile: DashboardTile | undefined = await read.dashboard_tiles.first({ dashboard_id, insight_id, deleted: false })
    return dashboard && tile ? { project, insight, on: { tile, dashboard } } : null
  }

  const refresh = async (row: InsightRefresh): Promise<Partial<InsightRefresh> | null> => {
    const place = clock().getTime() - row.viewed_at.getTime() <= lookedAtFor ? await placeOf(row) : null
    if (!place) return null
    const asker = { name: 'insight refresh', isBackground: true, signal: stop.signal }
    try {
      const answer = await answers.ofInsight(place.project, place.insight, { refresh: 'blocking' }, asker, place.on)
      const now = clock()
      return {
        refreshed_at: now,
        failures: 0,
        latest_error: null,
        due_at: new Date(Math.max(targetOf(answer, now).getTime(), now.getTime() + leastMs)),
      }
    } catch (error) {
      if (!(error instanceof WaymarkError)) report(error)
      const failures = row.failures + 1
      const wait = Math.min(day, hour * 2 ** Math.min(failures - 1, 10))
      const latest_error = error instanceof WaymarkError ? error.detail.slice(0, 1000) : 'The query failed.'
      return { failures, latest_error, due_at: new Date(clock().getTime() + wait) }
    }
  }

  const execute = async (due: InsightRefresh): Promise<void> => {
    const row = await claim(due)
    if (!row) return
    const change = await refresh(row)
    if (stop.signal.aborted)
      return void (await store.write((tables) => tables.insight_refreshes.update({ id: row.id }, { due_at: row.due_at })))
    await store.write(async (tables) => {
      if (change === null) await tables.insight_refreshes.remove({ id: row.id })
      else await tables.insight_refreshes.update({ id: row.id }, change)
    })
  }

  const start = (row: InsightRefresh): void => {
    const done = execute(row)
      .catch(report)
      .finally(() => {
        running.delete(row.id)
        if (!stop.signal.aborted) wake()
      })
    running.set(row.id, { projectId: row.project_id, done })
  }

  /** Of a project for which nothing is computed at the moment, if there is one. */
  const firstOf = (due: readonly InsightRefresh[]): InsightRefresh | undefined => {
    const waiting = due.filter(({ id }) => !running.has(id))
    const busy = new Set([...running.values()].map(({ projectId }) => projectId))
    return waiting.find(({ project_id }) => !busy.has(project_id)) ?? waiting[0]
  }

  const tickOnce = async (): Promise<number> => {
    if (stop.signal.aborted) return Number.POSITIVE_INFINITY
    const now = new Date(clock().getTime() + 1)
    const orderBy = [{ column: 'due_at' }] as const
    const due = await read.insight_refreshes.find({}, { between: { due_at: { to: now } }, orderBy, limit: mostDue })
    const [next] = await read.insight_refreshes.find({}, { between: { due_at: { from: now } }, orderBy, limit: 1 })
    for (let first = firstOf(due); first && running.size < atOnce && !stop.signal.aborted; first = firstOf(due)) start(first)
    return next ? next.due_at.getTime() : Number.POSITIVE_INFINITY
  }

  const noteOne = async (tables: AccountTables, projectId: number, dashboard_id: number | null, { insight, answer }: Looked) => {
    const now = clock()
    const key = { insight_id: insight.id, dashboard_id }
    const known = await tables.insight_refreshes.first(key)
    if (known) await tables.insight_refreshes.update({ id: known.id }, changeOf(known, answer, now))
    else
      await tables.insight_refreshes.insert({
        id: newId(),
        project_id: projectId,
        ...key,
        viewed_at: now,
        due_at: targetOf(answer, now),
        refreshed_at: null,
        failures: 0,
        latest_error: null,
      })
  }

  return {
    /** Somebody looked at these insights: their answers are refreshed from now on. */
    async looked(
      { id: project_id }: Pick<ProjectRecord, 'id'>,
      shown: readonly Looked[],
      dashboard: { readonly id: number } | null = null,
    ): Promise<void> {
      const dashboard_id = dashboard?.id ?? null
      const now = clock()
      const known = await read.insight_refreshes.find({ project_id, dashboard_id, insight_id: shown.map(({ insight }) => insight.id) })
      const byInsight = new Map(known.map((row) => [row.insight_id, row]))
      const changed = shown.filter(({ insight, answer }) => {
        const row = byInsight.get(insight.id)
        return !row || Object.keys(changeOf(row, answer, now)).length > 0
      })
      if (changed.length === 0) return
      await store.write(async (tables) => {
        if (!(await tables.projects.first({ id: project_id }))) return
        for (const one of changed) await noteOne(tables, project_id, dashboard_id, one)
      })
      wake()
    },

    /** Starts what is due, without waiting for it. Returns the time of the next work that is known. */
    tick(): Promise<number> {
      ticking = ticking.then(tickOnce, tickOnce)
      return ticking
    },
    /** Waits for what is being computed. */
    async settled(): Promise<void> {
      await Promise.all([...running.values()].map(({ done }) => done))
    },
    get running(): number {
      return running.size
    },
    async close(): Promise<void> {
      stop.abort()
      await ticking.catch(() => undefined)
      await this.settled()
    },
  }
}
export type Refresher = ReturnType<typeof createRefresher>

/** What a look changes. An answer that is missing is computed soon, unless that failed, or was done a moment ago. */
const changeOf = (row: InsightRefresh, { answer }: InsightAnswer, now: Date): Partial<InsightRefresh> => {
  const isStale = now.getTime() - row.viewed_at.getTime() > notedEvery
  const isMissing = answer === null && row.failures === 0 && row.due_at > now
  const isRecent = row.refreshed_at !== null && now.getTime() - row.refreshed_at.getTime() < keptAtLeast
  return { ...(isStale ? { viewed_at: now } : {}), ...(isMissing && !isRecent ? { due_at: now } : {}) }
}
