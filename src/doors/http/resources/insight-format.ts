import { chartFields } from '../../../queries/answers/answer-fields.ts'
import type { Accounts } from '../../../service/accounts/accounts.ts'
import { level } from '../../../service/accounts/records.ts'
import { tagsOf } from '../../../service/accounts/tags.ts'
import { presentRun, type QueryStatus } from '../../../service/asking/query-runs.ts'
import type { InsightAnswer } from '../../../service/saved/answers.ts'
import type { PlacedInsight } from '../../../service/saved/insights.ts'
import type { InsightResultAnswer, SavedInsightAnswer } from '../../answers/insights.ts'
import { maybeTime, presentAuthor, time } from '../present.ts'
import type { ProjectVisit } from '../resource.ts'

// Insights as clients expect them: the fields of the record, and those of its answer beside them.

/** Members may change what others made: private dashboards are not supported. */
const everybodyMayEdit = 21

type Fields = Readonly<Record<string, unknown>>

const nothing: PresentedAnswer = {
  result: null,
  columns: null,
  types: null,
  hasMore: null,
  hogql: null,
  warnings: null,
  is_cached: false,
  last_refresh: null,
  refreshing: false,
  cache_target_age: null,
  next_allowed_client_refresh: null,
  timezone: null,
  resolved_date_range: null,
  query_status: null,
  error: null,
}

/** The status without the answer, which is beside it. */
const statusOf = (status: NonNullable<InsightAnswer['status']>): Omit<QueryStatus, 'results'> & { results: null } => ({
  ...presentRun({ ...status, answer: null }),
  results: null,
})

type PresentedAnswer = InsightResultAnswer & Pick<SavedInsightAnswer, 'last_refresh' | 'refreshing'>

export const presentAnswer = ({ answer, status, error }: InsightAnswer): PresentedAnswer => {
  const { results, ...facts } = (answer?.object ?? {}) as Fields
  const known = [...new Set([...Object.keys(nothing), ...chartFields])].flatMap((name) =>
    facts[name] === undefined ? [] : [[name, facts[name]] as const],
  )
  return {
    ...nothing,
    ...Object.fromEntries(known),
    result: results ?? null,
    refreshing: status !== null && !status.run.is_complete,
    query_status: status ? statusOf(status) : null,
    error: error && { type: error.code, message: error.detail },
  }
}

/** Of records that members may change: clients show what they offer by it. */
export const privileges = ({ membership }: ProjectVisit) =>
  membership.level < level.member ? ({ user_access_level: 'viewer', effective_privilege_level: 21 } as const) : {}

export const presentInsight = async (
  accounts: Accounts,
  { insight, tiles }: PlacedInsight,
  computedAt: Date | null = null,
): Promise<SavedInsightAnswer> => ({
  id: insight.id,
  short_id: insight.short_id,
  name: insight.name,
  derived_name: insight.derived_name,
  description: insight.description,
  query: insight.query as SavedInsightAnswer['query'],
  filters: (insight.filters ?? {}) as Record<string, unknown>,
  order: insight.position,
  favorited: insight.favorited,
  saved: insight.saved,
  deleted: insight.deleted,
  tags: tagsOf(insight),
  dashboards: tiles.map((one) => one.dashboard_id),
  dashboard_tiles: tiles.map(({ id, dashboard_id, deleted }) => ({ id, dashboard_id, deleted })),
  created_at: time(insight.created_at),
  created_by: await presentAuthor(accounts, insight.created_by_id),
  last_modified_at: time(insight.last_modified_at),
  last_modified_by: await presentAuthor(accounts, insight.last_modified_by_id),
  updated_at: time(insight.updated_at),
  last_viewed_at: maybeTime(insight.last_viewed_at),
  last_refresh: maybeTime(computedAt),
  refreshing: false,
  user_access_level: 'editor',
  is_sample: false,
  effective_restriction_level: everybodyMayEdit,
  effective_privilege_level: 37,
})
