import type { ActivityEntry } from '../../service/accounts/records.ts'
import type { Where } from '../../service/accounts/store.ts'
import { type ActivityAnswer, type ActivityEntryAnswer, activitySchema } from '../answers/activity.ts'
import { time } from './present.ts'
import type { ProjectVisit, Row, Visit } from './resource.ts'
import { pageLink } from './site.ts'

export const activityParameters = { page: 'Page number, from 1', limit: 'Entries per page (default 10)' }

const whole = (text: string | null, fallback: number): number => (text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : fallback)

/** Matching entries, newest first. */
export const activityPage = async (visit: Visit, where: Where<ActivityEntry>): Promise<ActivityAnswer> => {
  const { accounts } = visit.app
  const limit = Math.min(whole(visit.query.get('limit'), 10), 1000)
  const page = whole(visit.query.get('page'), 1)
  const { activity } = accounts.context.store.read
  const total = await activity.count(where)
  const entries = await activity.find(where, { newestFirst: 'created_at', limit, offset: (page - 1) * limit })
  const present = async (entry: ActivityEntry): Promise<ActivityEntryAnswer> => {
    const user = entry.user_id === null ? undefined : await accounts.users.byId(entry.user_id)
    return {
      id: entry.id,
      user: user ? { first_name: user.first_name, email: user.email } : null,
      activity: entry.activity,
      scope: entry.scope,
      item_id: entry.item_id,
      detail: entry.detail as ActivityEntryAnswer['detail'],
      created_at: time(entry.created_at),
      unread: false,
      is_system: entry.is_system,
      was_impersonated: entry.was_impersonated,
    }
  }
  return {
    results: await Promise.all(entries.map(present)),
    next: page * limit < total ? pageLink(visit, { page: page + 1 }) : null,
    previous: page > 1 ? pageLink(visit, { page: page - 1 }) : null,
    total_count: total,
  }
}

type More = Partial<Pick<Row, 'name' | 'limits'>>
const rowOf = (path: string, summary: string, whereOf: (visit: ProjectVisit) => Promise<Where<ActivityEntry>>, more: More) => ({
  method: 'GET' as const,
  path,
  name: 'activity',
  summary,
  scope: 'activity_log:read' as const,
  queryParameters: activityParameters,
  answer: activitySchema,
  handle: async (visit: ProjectVisit) => activityPage(visit, { project_id: visit.project.id, ...(await whereOf(visit)) }),
  ...more,
})
type Scope = ActivityEntry['scope']
type Id = number | string

/** The row of the changes of a record. `also`: of which others it answers. */
export const activityOf = (scope: Scope, id: (visit: ProjectVisit) => Id | Promise<Id>, also = '', more: More = {}) => {
  const summary = `Its changes and who made them, newest first${also && `; also ${also}`}`
  return rowOf(':id/activity', summary, async (visit) => ({ scope, item_id: String(await id(visit)) }), more)
}
/** The row of the changes of all records of a kind. */
export const activityOfAll = (scope: Scope, what: string, more: More = {}) =>
  rowOf('activity', `Changes of ${what} and who made them, newest first`, async () => ({ scope }), { name: 'activity_of_all', ...more })
