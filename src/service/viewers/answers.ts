import type { Answer } from '../../engine/admission/answer.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { isObject } from '../../lib/is-object.ts'
import type { AskedQuery } from '../../queries/asked-query.ts'
import { queryAsked } from '../../queries/asked-query.ts'
import { kindsIn } from '../../queries/viewer/kinds.ts'
import type { Dashboard, DashboardTile, Insight } from '../accounts/records.ts'
import { invalid, notFound } from '../accounts/refusals.ts'
import type { QueryCaller } from '../asking/asking.ts'
import type { InsightAnswer } from '../saved/answers.ts'
import type { SavedHome } from '../saved/asked-project.ts'
import type { Saved } from '../saved/open-saved.ts'
import type { SharedInsight, SharedText } from '../sharing/shared-view.ts'
import type { OpenedToken } from './keys.ts'

// What a viewer is shown. Its filter is around every query, so no answer is computed, kept or found without it.

/** Other dates than those that are saved. */
export interface ViewerDates {
  readonly date_from?: string | undefined
  readonly date_to?: string | undefined
  readonly interval?: string | undefined
}

/** A point of a chart, and which of the people behind it. */
export interface ViewerPoint {
  readonly point: Readonly<Record<string, unknown>>
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export interface ViewedDashboard {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly tiles: readonly (SharedInsight | SharedText)[]
}

const mostTiles = 60
const askingMs = 55_000

const askerOf = ({ project, key }: OpenedToken, signal: AbortSignal): QueryCaller => ({
  name: `viewers of ${project.id} ${key.id}`,
  signal: AbortSignal.any([signal, AbortSignal.timeout(askingMs)]),
})

/** The query as the viewer sees it. `isOwn`: it has written it. */
const seenBy =
  ({ claims: { grant } }: OpenedToken, isOwn: boolean) =>
  (source: AskedQuery): AskedQuery => ({
    kind: 'ViewerQuery',
    filter: grant.filter,
    ...(isOwn ? { personProperties: grant.personProperties ?? [] } : { mayJoin: true }),
    source,
  })

/** The people behind a point of a chart that somebody else has written. The viewer writes no expression of the list. */
const peopleSeenBy =
  (opened: OpenedToken, { point, limit, offset }: ViewerPoint) =>
  (chart: AskedQuery): AskedQuery => ({
    ...seenBy(
      opened,
      false,
    )({
      kind: 'ActorsQuery',
      select: ['person'],
      source: { ...point, kind: chart.kind === 'FunnelsQuery' ? 'FunnelsActorsQuery' : 'InsightActorsQuery', source: chart },
      limit,
      offset,
    }),
    personProperties: opened.claims.grant.personProperties ?? [],
  })

function mayAsk({ claims: { grant } }: OpenedToken, kinds: readonly string[], attr: string | null): void {
  const allowed: readonly string[] = grant.kinds ?? []
  const closed = kinds.find((kind) => !allowed.includes(kind))
  if (closed !== undefined)
    throw invalid(
      allowed.length > 0
        ? `The token allows queries of the kinds ${allowed.join(', ')}, not of ${closed}.`
        : 'The token allows no queries of its viewer. List their kinds when it is made: kinds.',
      attr,
    )
}

/** What the author of the page has to know; anything else might tell of values. */
const told = (error: WaymarkError | null): string | null =>
  error === null ? null : error.code === 'not-for-viewers' ? error.detail : 'This insight could not be answered.'

const shown = (insight: Insight, tile: DashboardTile | undefined, { answer, error }: InsightAnswer): SharedInsight => ({
  id: insight.id,
  tile: tile?.id ?? 0,
  name: insight.name || insight.derived_name || '',
  description: insight.description,
  kind: queryAsked(insight.query).kind,
  query: insight.query,
  answer: isObject(answer?.object) ? answer.object : null,
  error: told(error),
  layouts: tile?.layouts ?? {},
})

export const createViewerAnswers = (saved: Saved, home: SavedHome) => {
  const dashboardOf = async ({ project, claims }: OpenedToken): Promise<{ dashboard: Dashboard; tiles: readonly Tile[] } | null> => {
    const { dashboard: id } = claims.grant
    if (id === undefined) return null
    const dashboard = await saved.dashboards.find(project, id).catch(() => null)
    if (!dashboard || dashboard.deleted) return null
    return { dashboard, tiles: (await saved.dashboards.whole(dashboard)).tiles.slice(0, mostTiles) }
  }

  const answerOf = async (
    opened: OpenedToken,
    id: number,
    dates: ViewerDates,
    instead: (query: AskedQuery) => AskedQuery,
    signal: AbortSignal,
  ): Promise<{ insight: Insight; tile: DashboardTile | undefined; answer: InsightAnswer }> => {
    const { project, claims } = opened
    const isListed = claims.grant.insights?.includes(id) === true
    const on = isListed ? null : await dashboardOf(opened)
    const tile = on?.tiles.find((one) => one.insight?.id === id)?.tile
    if (!isListed && !tile) throw notFound()
    const insight = await saved.insights.find(project, String(id))
    if (insight.deleted) throw notFound()
    const asking = { refresh: 'blocking', filters: dates, instead } as const
    const [answer] = await saved.answers.ofAll(
      project,
      [{ insight, ...(tile && { tile }) }],
      asking,
      askerOf(opened, signal),
      tile && on ? on.dashboard : undefined,
    )
    return { insight, tile, answer: answer! }
  }

  return {
    async insight(opened: OpenedToken, id: number, dates: ViewerDates, signal: AbortSignal): Promise<SharedInsight> {
      const { insight, tile, answer } = await answerOf(opened, id, dates, seenBy(opened, false), signal)
      return shown(insight, tile, answer)
    },

    /** The people behind a point of an insight. */
    async people(opened: OpenedToken, id: number, point: ViewerPoint, dates: ViewerDates, signal: AbortSignal): Promise<Answer> {
      mayAsk(opened, ['ActorsQuery'], null)
      const { answer, error } = (await answerOf(opened, id, dates, peopleSeenBy(opened, point), signal)).answer
      if (answer) return answer
      // A failed expression of the insight might tell of values that the viewer does not see.
      if (error?.code === 'not-for-viewers' || error?.code === 'validation-failed') throw error
      throw invalid('The people behind this point could not be listed.', 'point')
    },

    async dashboard(opened: OpenedToken, id: number, dates: ViewerDates, signal: AbortSignal): Promise<ViewedDashboard> {
      const found = opened.claims.grant.dashboard === id ? await dashboardOf(opened) : null
      if (!found) throw notFound()
      const { dashboard, tiles } = found
      const asked = tiles.flatMap(({ tile, insight }) => (insight ? [{ tile, insight }] : []))
      const asking = { refresh: 'blocking', filters: dates, instead: seenBy(opened, false) } as const
      const answers = await saved.answers.ofAll(opened.project, asked, asking, askerOf(opened, signal), dashboard)
      let next = 0
      return {
        id,
        name: dashboard.name,
        description: dashboard.description ?? '',
        tiles: tiles.map(({ tile, insight }) =>
          insight ? shown(insight, tile, answers[next++]!) : { tile: tile.id, text: tile.body ?? '', layouts: tile.layouts },
        ),
      }
    },

    /** A query that the viewer has written. */
    async query(opened: OpenedToken, given: unknown, signal: AbortSignal): Promise<Answer> {
      const query = queryAsked(given)
      mayAsk(opened, kindsIn(query), 'query__kind')
      const project = await home.project(opened.project)
      const asked = { query: seenBy(opened, true)(query), refresh: 'blocking', client_query_id: null, wantsStatus: false } as const
      const outcome = await project.ask(asked, askerOf(opened, signal))
      if (!('answer' in outcome)) throw new WaymarkError('busy', { what: 'viewers' })
      return outcome.answer
    },
  }
}
type Tile = Awaited<ReturnType<Saved['dashboards']['whole']>>['tiles'][number]
export type ViewerAnswers = ReturnType<typeof createViewerAnswers>
