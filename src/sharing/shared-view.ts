import type { Dashboard, DashboardTile, Insight, ProjectRecord, SharingLink } from '../accounts/records.ts'
import { WaymarkError } from '../errors/errors.ts'
import type { QueryCaller } from '../execution/asking/asking.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { isObject } from '../lib/is-object.ts'
import { queryAsked } from '../queries/asked-query.ts'
import type { InsightAnswer } from '../saved/answers.ts'
import type { Saved } from '../saved/open-saved.ts'

// What a public link shows: the answers of its insights, asked at most once a minute however many read it.

export interface SharedInsight {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly kind: string
  readonly query: unknown
  /** Null: there is none, and `error` says why. */
  readonly answer: Readonly<Record<string, unknown>> | null
  readonly error: string | null
  readonly layouts: unknown
}
export interface SharedText {
  readonly text: string
  readonly layouts: unknown
}
export interface SharedView {
  readonly type: 'insight' | 'dashboard'
  readonly name: string
  readonly description: string
  readonly timezone: string
  readonly computedAt: Date
  /** Characters of its answers. */
  readonly size: number
  readonly tiles: readonly (SharedInsight | SharedText)[]
}

const freshMs = 60_000
const mostKept = 200
const mostTiles = 60
const askingMs = 55_000

/** Characters of all answers that are kept; a view that alone has a fourth of them is not. */
const mostCharacters = 32 * 1024 ** 2

interface Kept {
  /** Null: it is being computed. */
  size: number | null
  /** The versions of what is shown: a change shows at once. */
  readonly key: string
  readonly at: number
  readonly view: Promise<SharedView>
}

const busy = () => new WaymarkError('busy', { what: 'public links' })

/** Errors that readers may see: nothing about the project's own names. */
const told = (error: WaymarkError | null): string | null => (error ? 'This insight could not be answered.' : null)

const sizeOf = async (answers: readonly (InsightAnswer | undefined)[]): Promise<number> => {
  const texts = await Promise.all(answers.map((one) => one?.answer?.text()))
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

export const createSharedViews = (saved: Saved, clock: () => Date) => {
  const kept = new Map<string, Kept>()
  const limit = createConcurrencyLimit({ atOnce: 2, waiting: 64, waitingOfGroup: 8, refusal: busy })

  const shownInsight = (
    insight: Insight,
    tile: DashboardTile | undefined,
    answer: object | null,
    error: WaymarkError | null,
  ): SharedInsight => ({
    id: insight.id,
    name: insight.name || insight.derived_name || '',
    description: insight.description,
    kind: queryAsked(insight.query).kind,
    query: insight.query,
    answer: isObject(answer) ? answer : null,
    error: told(error),
    layouts: tile?.layouts ?? {},
  })

  /** All links of a project share its execution slots. */
  const askerOf = (project: ProjectRecord): QueryCaller => ({
    name: `public links of ${project.id}`,
    isBackground: true,
    signal: AbortSignal.timeout(askingMs),
  })

  const insightView = async (project: ProjectRecord, insight: Insight): Promise<SharedView> => {
    const [found] = await saved.answers.ofAll(project, [{ insight }], { refresh: 'blocking' }, askerOf(project))
    return {
      type: 'insight',
      name: insight.name || insight.derived_name || '',
      description: insight.description,
      timezone: project.timezone,
      computedAt: clock(),
      size: await sizeOf([found]),
      tiles: [shownInsight(insight, undefined, found?.answer?.object ?? null, found?.error ?? null)],
    }
  }

  const dashboardView = async (project: ProjectRecord, dashboard: Dashboard): Promise<SharedView> => {
    const { tiles } = await saved.dashboards.whole(dashboard)
    const shown = tiles.slice(0, mostTiles)
    const asked = shown.flatMap(({ tile, insight }) => (insight ? [{ tile, insight }] : []))
    const answers = await saved.answers.ofAll(project, asked, { refresh: 'blocking' }, askerOf(project), dashboard)
    let next = 0
    return {
      type: 'dashboard',
      name: dashboard.name,
      description: dashboard.description ?? '',
      timezone: project.timezone,
      computedAt: clock(),
      size: await sizeOf(answers),
      tiles: shown.map(({ tile, insight }) => {
        if (!insight) return { text: tile.body ?? '', layouts: tile.layouts }
        const found = answers[next++]
        return shownInsight(insight, tile, found?.answer?.object ?? null, found?.error ?? null)
      }),
    }
  }

  const sharedOf = async (
    project: ProjectRecord,
    link: SharingLink,
  ): Promise<{ readonly insight: Insight } | { readonly dashboard: Dashboard } | undefined> => {
    if (link.insight_id !== null) {
      const insight = await saved.insights.find(project, String(link.insight_id)).catch(() => undefined)
      return insight && !insight.deleted ? { insight } : undefined
    }
    const dashboard = await saved.dashboards.find(project, link.dashboard_id!).catch(() => undefined)
    return dashboard && !dashboard.deleted ? { dashboard } : undefined
  }

  /** The oldest go first. */
  const shrink = () => {
    let sum = 0
    for (const { size } of kept.values()) sum += size ?? 0
    for (const [id, { size }] of kept) {
      if (size === null || (sum <= mostCharacters && kept.size <= mostKept && size <= mostCharacters / 4)) continue
      kept.delete(id)
      sum -= size
    }
  }

  return {
    /** Undefined: what it showed was deleted. */
    async of(project: ProjectRecord, link: SharingLink): Promise<SharedView | undefined> {
      const shared = await sharedOf(project, link)
      if (!shared) return undefined
      const version = 'insight' in shared ? shared.insight.updated_at : (shared.dashboard.last_modified_at ?? shared.dashboard.created_at)
      const key = `${version?.toISOString()} ${project.updated_at.toISOString()}`
      const known = kept.get(link.id)
      const now = clock().getTime()
      if (known?.key === key && Math.abs(now - known.at) < freshMs) return known.view
      const view = limit(String(project.id), () =>
        'insight' in shared ? insightView(project, shared.insight) : dashboardView(project, shared.dashboard),
      )
      const entry: Kept = { key, at: now, view, size: null }
      kept.delete(link.id)
      kept.set(link.id, entry)
      view.then(
        ({ size }) => {
          entry.size = size
          shrink()
        },
        // The next reader tries again.
        () => kept.get(link.id) === entry && kept.delete(link.id),
      )
      return view
    },
  }
}
export type SharedViews = ReturnType<typeof createSharedViews>
