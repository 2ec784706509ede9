import { WaymarkError } from '../../errors/errors.ts'
import { isFault } from '../../errors/faults.ts'
import type { AccountContext } from '../accounts/context.ts'
import type { AccountStore, AccountTables, DashboardTile, Insight, InsightRefresh, ProjectRecord } from '../accounts/records.ts'
import { dueRows } from '../jobs/due-rows.ts'
import type { Kind } from '../jobs/kind.ts'
import type { Retry } from '../jobs/retry.ts'
import { createRunner, type RunnerParts } from '../jobs/runner.ts'
import type { Answers, InsightAnswer } from './answers.ts'

// Refreshes the answers that people look at when they become too old. What is due is in a table, so it goes on after a restart. Few answers are
// computed at a time, as queries that nobody waits for.

const hour = 3_600_000
const day = 24 * hour
/** After this time without a look, an answer is no longer refreshed. */
const lookedAtFor = 14 * day
/** How often a look is written. */
const notedEvery = hour
/** An answer that is missing shortly after it was computed is too large to be cached. */
const keptAtLeast = hour / 12
const leastMs = 60_000
const mostDue = 100

const retry: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: hour, growth: 2, longestMs: day, jitter: 0.25 }

interface Parts extends RunnerParts {
  readonly context: Pick<AccountContext, 'store' | 'clock' | 'newId'>
  readonly answers: Answers
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

/** Where it is shown; null: nowhere any more. */
const placeOf = async ({ read }: AccountStore, { project_id, insight_id, dashboard_id }: InsightRefresh) => {
  const project = await read.projects.first({ id: project_id })
  const insight = await read.insights.first({ id: insight_id, project_id, deleted: false })
  if (!project || !insight) return null
  if (dashboard_id === null) return { project, insight }
  const dashboard = await read.dashboards.first({ id: dashboard_id, project_id, deleted: [false, null] })
  const tile: DashboardTile | undefined = await read.dashboard_tiles.first({ dashboard_id, insight_id, deleted: false })
  return dashboard && tile ? { project, insight, on: { tile, dashboard } } : null
}

const refreshKind = ({ context, answers, report }: Parts): Kind<InsightRefresh> => {
  const { store, clock } = context
  return {
    name: 'insight refresh',
    share: { slots: 2 },
    retry,
    guarantee: 'once',
    async due(now) {
      const { rows, next } = await dueRows(store.read, store.read.insight_refreshes, {}, now, mostDue)
      return { due: rows.map((item) => ({ id: item.id, projectId: item.project_id, at: item.due_at.getTime(), item })), next }
    },
    async claim(tables, { id }, now) {
      const row = await tables.insight_refreshes.first({ id })
      return row && row.due_at <= now ? row : null
    },
    async run(row, { signal }) {
      const place = clock().getTime() - row.viewed_at.getTime() <= lookedAtFor ? await placeOf(store, row) : null
      if (!place) return (tables) => tables.insight_refreshes.remove({ id: row.id })
      const asker = { name: 'insight refresh', isBackground: true, signal }
      const answer = await answers.ofInsight(place.project, place.insight, { refresh: 'blocking' }, asker, place.on)
      signal.throwIfAborted()
      const now = clock()
      const due_at = new Date(Math.max(targetOf(answer, now).getTime(), now.getTime() + leastMs))
      return (tables) => tables.insight_refreshes.update({ id: row.id }, { refreshed_at: now, failures: 0, latest_error: null, due_at })
    },
    async failed(tables, row, error, next) {
      if (!(error instanceof WaymarkError) && !isFault(error)) report(error)
      const failures = row.failures + 1
      const latest_error = error instanceof WaymarkError ? error.detail.slice(0, 1000) : 'The query failed.'
      await tables.insight_refreshes.update({ id: row.id }, { failures, latest_error, due_at: next(failures)! })
    },
  }
}

export const createRefresher = (parts: Parts) => {
  const { store, clock, newId } = parts.context
  const { read } = store
  const runner = createRunner(parts, [refreshKind(parts)])

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

  return Object.assign(runner, {
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
      runner.wake()
    },
  })
}
export type Refresher = ReturnType<typeof createRefresher>

/** What a look changes. An answer that is missing is computed soon, unless that failed, or was done a moment ago. */
const changeOf = (row: InsightRefresh, { answer }: InsightAnswer, now: Date): Partial<InsightRefresh> => {
  const isStale = now.getTime() - row.viewed_at.getTime() > notedEvery
  const isMissing = answer === null && row.failures === 0 && row.due_at > now
  const isRecent = row.refreshed_at !== null && now.getTime() - row.refreshed_at.getTime() < keptAtLeast
  return { ...(isStale ? { viewed_at: now } : {}), ...(isMissing && !isRecent ? { due_at: now } : {}) }
}
