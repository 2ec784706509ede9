import { WaymarkError } from '../../errors/errors.ts'
import { createConcurrencyLimit } from '../../lib/flow/concurrency-limit.ts'
import { isObject } from '../../lib/is-object.ts'
import { queryAsked } from '../../queries/asked-query.ts'
import type { Dashboard, DashboardTile, Insight, ProjectRecord, SharingLink } from '../accounts/records.ts'
import type { QueryCaller } from '../asking/asking.ts'
import type { InsightAnswer } from '../saved/answers.ts'
import type { Saved } from '../saved/open-saved.ts'

// What a public link shows: the answers of its insights, asked at most once a minute however many read it.

export interface SharedInsight {
  readonly id: number
  /** Its id on the dashboard; 0: it is on none. */
  readonly tile: number
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
  readonly tile: number
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

/** Characters of all pages that are kept. Those that were made first go first; the next reader gets another one. */
const mostOfPages = 32 * 1024 ** 2

const busy = () => new WaymarkError('busy', { what: 'public links' })

/** Pages of views, made once for all readers: one at a time, projects in turn. */
export function createPages<P extends { readonly size: number }>(most = mostOfPages) {
  // By a number of the view, so that no page holds a view whose time is over.
  const numbers = new WeakMap<SharedView, number>()
  /** A size of 0: it is being made. */
  const kept = new Map<string, { readonly page: Promise<P>; size: number }>()
  const limit = createConcurrencyLimit({ atOnce: 1, waiting: 200, waitingOfGroup: 20, refusal: busy })
  let [next, sum] = [0, 0]
  const shrink = (last: string) => {
    for (const [key, { size }] of kept) {
      if (sum <= most) return
      if (key === last || size === 0) continue
      kept.delete(key)
      sum -= size
    }
  }
  return (view: SharedView, project: number, name: string, make: () => Promise<P>): Promise<P> => {
    const number = numbers.get(view) ?? next++
    numbers.set(view, number)
    const key = `${number} ${name}`
    const known = kept.get(key)
    if (known) return known.page
    const made = { page: limit(String(project), make), size: 0 }
    kept.set(key, made)
    made.page.then(
      ({ size }) => {
        made.size = size
        sum += size
        shrink(key)
      },
      () => kept.delete(key),
    )
    return made.page
  }
}

const freshMs = 60_000
const mostKept = 200
const mostTiles = 60
const askingMs = 55_000

/** A failure is told to the readers of so many milliseconds, so that nobody computes it again and again. */
const failedMs = 5_000
/** Characters of all views that are kept. */
const mostCharacters = 32 * 1024 ** 2
/** Characters of the answers of one view. Further ones are not shown: every view can be kept. */
const mostOfView = 4 * 1024 ** 2

interface Kept {
  /** Null: it is being computed. */
  size: number | null
  readonly project: number
  hasFailed: boolean
  /** The versions of what is shown: a change shows at once. */
  readonly key: string
  readonly at: number
  readonly view: Promise<SharedView>
}

const tooLarge = 'This answer is too large for a public link.'

/** Errors that readers may see: nothing about the project's own names. */
const told = (error: WaymarkError | null): string | null => (error ? 'This insight could not be answered.' : null)

interface Fitting {
  readonly size: number
  /** Null: too large to be shown. */
  readonly answers: readonly (InsightAnswer | null | undefined)[]
}
const fitting = async (answers: readonly (InsightAnswer | undefined)[]): Promise<Fitting> => {
  const texts = await Promise.all(answers.map((one) => one?.answer?.text()))
  let size = 0
  const shown = answers.map((one, i) => {
    const length = texts[i]?.length ?? 0
    if (size + length > mostOfView) return null
    size += length
    return one
  })
  return { size, answers: shown }
}

const shownInsight = (insight: Insight, tile: DashboardTile | undefined, found: InsightAnswer | null | undefined): SharedInsight => ({
  id: insight.id,
  tile: tile?.id ?? 0,
  name: insight.name || insight.derived_name || '',
  description: insight.description,
  kind: queryAsked(insight.query).kind,
  query: insight.query,
  answer: isObject(found?.answer?.object) ? found.answer.object : null,
  error: found === null ? tooLarge : told(found?.error ?? null),
  layouts: tile?.layouts ?? {},
})

/** All links of a project share its execution slots. */
const askerOf = (project: ProjectRecord): QueryCaller => ({
  name: `public links of ${project.id}`,
  isBackground: true,
  signal: AbortSignal.timeout(askingMs),
})

const insightView = async (saved: Saved, clock: () => Date, project: ProjectRecord, insight: Insight): Promise<SharedView> => {
  const { size, answers } = await fitting(await saved.answers.ofAll(project, [{ insight }], { refresh: 'blocking' }, askerOf(project)))
  return {
    type: 'insight',
    name: insight.name || insight.derived_name || '',
    description: insight.description,
    timezone: project.timezone,
    computedAt: clock(),
    size,
    tiles: [shownInsight(insight, undefined, answers[0])],
  }
}

const dashboardView = async (saved: Saved, clock: () => Date, project: ProjectRecord, dashboard: Dashboard): Promise<SharedView> => {
  const { tiles } = await saved.dashboards.whole(dashboard)
  const shown = tiles.slice(0, mostTiles)
  const asked = shown.flatMap(({ tile, insight }) => (insight ? [{ tile, insight }] : []))
  const { size, answers } = await fitting(await saved.answers.ofAll(project, asked, { refresh: 'blocking' }, askerOf(project), dashboard))
  let next = 0
  return {
    type: 'dashboard',
    name: dashboard.name,
    description: dashboard.description ?? '',
    timezone: project.timezone,
    computedAt: clock(),
    size,
    tiles: shown.map(({ tile, insight }) => {
      if (!insight) return { tile: tile.id, text: tile.body ?? '', layouts: tile.layouts }
      return shownInsight(insight, tile, answers[next++])
    }),
  }
}

const sharedOf = async (
  saved: Saved,
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

export const createSharedViews = (saved: Saved, clock: () => Date) => {
  const kept = new Map<string, Kept>()
  const limit = createConcurrencyLimit({ atOnce: 2, waiting: 64, waitingOfGroup: 8, refusal: busy })

  /** The oldest view of the project that keeps most goes first: many links of one project take no place from others. */
  const shrink = () => {
    for (;;) {
      const settled = [...kept].filter(([, { size }]) => size !== null)
      const sum = settled.reduce((all, [, { size }]) => all + size!, 0)
      const isMany = kept.size > mostKept
      if ((sum <= mostCharacters && !isMany) || settled.length === 0) return
      const held = new Map<number, number>()
      for (const [, { project, size }] of settled) held.set(project, (held.get(project) ?? 0) + (isMany ? 1 : size!))
      const [most] = [...held].reduce((a, b) => (b[1] > a[1] ? b : a))
      kept.delete(settled.find(([, { project }]) => project === most)![0])
    }
  }

  return {
    /** Undefined: what it showed was deleted. */
    async of(project: ProjectRecord, link: SharingLink): Promise<SharedView | undefined> {
      const shared = await sharedOf(saved, project, link)
      if (!shared) return undefined
      const version = 'insight' in shared ? shared.insight.updated_at : (shared.dashboard.last_modified_at ?? shared.dashboard.created_at)
      const key = `${version?.toISOString()} ${project.updated_at.toISOString()}`
      const known = kept.get(link.id)
      const now = clock().getTime()
      if (known?.key === key && Math.abs(now - known.at) < (known.hasFailed ? failedMs : freshMs)) return known.view
      const view = limit(String(project.id), () =>
        'insight' in shared ? insightView(saved, clock, project, shared.insight) : dashboardView(saved, clock, project, shared.dashboard),
      )
      const entry: Kept = { key, at: now, view, size: null, project: project.id, hasFailed: false }
      kept.delete(link.id)
      kept.set(link.id, entry)
      view.then(
        ({ size }) => {
          entry.size = size
          shrink()
        },
        (error: unknown) => {
          // Nothing was computed: the next reader tries again.
          if (error instanceof WaymarkError && error.code === 'busy') return void (kept.get(link.id) === entry && kept.delete(link.id))
          entry.size = 0
          entry.hasFailed = true
          shrink()
        },
      )
      return view
    },
  }
}
export type SharedViews = ReturnType<typeof createSharedViews>
