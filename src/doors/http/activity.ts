import type { ActivityEntry } from '../../service/accounts/records.ts'
import type { Where } from '../../service/accounts/store.ts'
import type { ActivityAnswer, ActivityEntryAnswer } from '../answers/activity.ts'
import { time } from './present.ts'
import type { Visit } from './resource.ts'
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
