import type { Answer } from '../../engine/admission/answer.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { isObject } from '../../lib/is-object.ts'
import { type AskedQuery, queryAsked } from '../../queries/asked-query.ts'
import { withOverrides } from '../../queries/filters/overrides.ts'
import type { Dashboard, DashboardTile, Insight, ProjectRecord } from '../accounts/records.ts'
import { invalid } from '../accounts/refusals.ts'
import { type QueryCaller, waitedForSeconds } from '../asking/asking.ts'
import type { Polled } from '../asking/query-runs.ts'
import { type RefreshMode, refreshMode } from '../asking/refresh.ts'
import type { AskedProject, RowLimits, SavedHome } from './asked-project.ts'

// The answer of an insight is the answer of its query, with the filters of the dashboard around it.

/** `force_cache`: only an answer that is there already. */
export interface InsightAsking {
  readonly refresh: RefreshMode
  readonly filters?: unknown
  readonly variables?: unknown
  readonly client_query_id?: string | null
  /** What is asked in place of the query, with its overrides. */
  readonly instead?: (query: AskedQuery) => AskedQuery
}

export interface InsightAnswer {
  readonly answer: Answer | null
  /** Of the query in the background. */
  readonly status: Polled | null
  /** Why there is no answer, where others are shown beside it. */
  readonly error: WaymarkError | null
}
export const noAnswer: InsightAnswer = { answer: null, status: null, error: null }

/** Answers computed at the same time for one dashboard. */
const atOnce = 2
/** Characters of the answers of one dashboard, or of one page of insights. */
const mostCharacters = 32 * 1024 ** 2

/** The mode of a request for something saved: unless it says otherwise, it is shown what is cached. */
export const savedRefresh = (refresh: string | null): RefreshMode => {
  if (refresh === null || refresh === '' || /^(false|0|force_cache)$/i.test(refresh)) return 'force_cache'
  return refreshMode(/^(true|1)$/i.test(refresh) ? true : refresh)
}

const overridden = (query: AskedQuery, overrides: { readonly filters: unknown; readonly variables: unknown }): AskedQuery => {
  const laid = withOverrides(query, overrides)
  if (typeof laid === 'string') throw invalid(`${query.kind} takes no ${laid}.`, laid)
  return laid
}

/** Filters of a dashboard hold for the tiles whose queries can have them. */
const narrowed = (query: AskedQuery, filters: unknown, variables: unknown): AskedQuery => {
  const filtered = withOverrides(query, { filters, variables: null })
  const kept = typeof filtered === 'string' ? query : filtered
  const filled = withOverrides(kept, { filters: null, variables })
  return typeof filled === 'string' ? kept : filled
}

const merged = (own: unknown, over: unknown): unknown =>
  isObject(own) && isObject(over) ? { ...own, ...over } : isObject(over) ? over : own

/** The query of an insight where it is shown. */
const queryOn = (insight: Insight, asking: InsightAsking, tile?: Pick<DashboardTile, 'filters_overrides'>, dashboard?: Dashboard) => {
  const own = queryAsked(insight.query)
  if (!dashboard) return overridden(own, { filters: asking.filters, variables: asking.variables })
  const filters = merged(merged(dashboard.filters, tile?.filters_overrides), asking.filters)
  return narrowed(own, filters, merged(dashboard.variables, asking.variables))
}

export const createAnswers = (home: SavedHome) => {
  let rows: () => RowLimits = () => undefined

  const askQuery = async (
    project: AskedProject,
    given: AskedQuery,
    { refresh, client_query_id = null, instead = (one) => one }: InsightAsking,
    asker: QueryCaller,
  ): Promise<InsightAnswer> => {
    const query = instead(given)
    if (refresh === 'force_cache') return { ...noAnswer, answer: await project.cachedAnswer(query) }
    const asked = { query, refresh, client_query_id, wantsStatus: false, isSaved: true }
    const outcome = await project.ask(asked, { ...asker, rows: rows() })
    if ('answer' in outcome) return { ...noAnswer, answer: outcome.answer }
    return { ...noAnswer, status: outcome.status, answer: outcome.status.answer ?? (await project.cachedAnswer(query)) }
  }

  return {
    /** The limits of the answers of statements, as everywhere else on this server. */
    limitRows(limits: () => RowLimits): void {
      rows = limits
    },

    async ofInsight(
      project: Pick<ProjectRecord, 'id'>,
      insight: Insight,
      asking: InsightAsking,
      asker: QueryCaller,
      on?: { readonly tile: DashboardTile; readonly dashboard: Dashboard },
    ): Promise<InsightAnswer> {
      return askQuery(await home.project(project), queryOn(insight, asking, on?.tile, on?.dashboard), asking, asker)
    },

    /** When the cached answers of these insights were computed, without the answers. */
    async computedAt(project: Pick<ProjectRecord, 'id'>, insights: readonly Insight[]): Promise<readonly (Date | null)[]> {
      const data = await home.project(project)
      return Promise.all(insights.map(({ query }) => data.cachedAt(queryAsked(query))))
    },

    /**
     * The answers of several insights, in their order. What fails is reported in its place. They count as one query of the caller, unless they are
     * computed in the background.
     */
    async ofAll(
      project: Pick<ProjectRecord, 'id'>,
      shown: readonly { readonly insight: Insight; readonly tile?: DashboardTile }[],
      asking: InsightAsking,
      asker: QueryCaller,
      dashboard?: Dashboard,
    ): Promise<readonly InsightAnswer[]> {
      const data = await home.project(project)
      const isWaiting = asking.refresh === 'blocking' || asking.refresh === 'force_blocking'
      const give = isWaiting ? await asker.acquire?.() : undefined
      const inner: QueryCaller = isWaiting ? { ...(asker.name === undefined ? {} : { name: asker.name }), signal: asker.signal } : asker
      const answers: InsightAnswer[] = shown.map(() => noAnswer)
      const until = performance.now() + waitedForSeconds * 1000
      let characters = 0
      let next = 0
      const one = async (index: number) => {
        const { insight, tile } = shown[index]!
        try {
          // What is not begun by then is shown as it is cached.
          const refresh = performance.now() > until ? 'force_cache' : asking.refresh
          const found = await askQuery(
            data,
            queryOn(insight, asking, tile, dashboard),
            { ...asking, refresh, client_query_id: null },
            inner,
          )
          characters += (await found.answer?.text())?.length ?? 0
          answers[index] = characters > mostCharacters ? { ...noAnswer, error: tooMuch() } : found
        } catch (error) {
          if (!(error instanceof WaymarkError) || asker.signal?.aborted) throw error
          answers[index] = { ...noAnswer, error }
        }
      }
      const worker = async () => {
        while (next < shown.length) await one(next++)
      }
      try {
        await Promise.all(Array.from({ length: Math.min(atOnce, shown.length) }, worker))
      } finally {
        give?.()
      }
      return answers
    },

    /** For what is sent to others: as the user who made the insight. */
    asOwner: async (project: Pick<ProjectRecord, 'id'>, insight: Insight, asking: InsightAsking, signal?: AbortSignal) =>
      askQuery(await home.project(project), queryOn(insight, asking), asking, {
        name: `user ${insight.created_by_id ?? insight.last_modified_by_id ?? 0}`,
        isBackground: true,
        signal,
      }),
  }
}
export type Answers = ReturnType<typeof createAnswers>

const tooMuch = () => new WaymarkError('answer-too-large', { bytes: mostCharacters })
