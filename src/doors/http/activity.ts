import * as z from 'zod'
import type { ActivityEntry } from '../../service/accounts/records.ts'
import type { Where } from '../../service/accounts/store.ts'
import { time, timeSchema, uuidSchema } from './present.ts'
import type { Visit } from './resource.ts'
import { pageLink } from './site.ts'

const entrySchema = z.object({
  id: uuidSchema,
  user: z.object({ first_name: z.string(), email: z.string() }).nullable(),
  activity: z.string(),
  scope: z.string(),
  item_id: z.string(),
  detail: z.object({
    name: z.string().nullable(),
    short_id: z.string().nullable(),
    type: z.string().nullable(),
    changes: z.array(z.unknown()).nullable(),
    trigger: z.unknown(),
  }),
  created_at: timeSchema,
  unread: z.boolean(),
  is_system: z.boolean(),
  was_impersonated: z.boolean(),
})
export const activitySchema = z.object({
  results: z.array(entrySchema),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  total_count: z.int(),
})
export const activityParameters = { page: 'Page number, from 1', limit: 'Entries per page (default 10)' }

const whole = (text: string | null, fallback: number): number => (text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : fallback)

/** Matching entries, newest first. */
export const activityPage = async (visit: Visit, where: Where<ActivityEntry>): Promise<z.infer<typeof activitySchema>> => {
  const { accounts } = visit.app
  const limit = Math.min(whole(visit.query.get('limit'), 10), 1000)
  const page = whole(visit.query.get('page'), 1)
  const { activity } = accounts.context.store.read
  const total = await activity.count(where)
  const entries = await activity.find(where, { newestFirst: 'created_at', limit, offset: (page - 1) * limit })
  const present = async (entry: ActivityEntry): Promise<z.infer<typeof entrySchema>> => {
    const user = entry.user_id === null ? undefined : await accounts.users.byId(entry.user_id)
    return {
      id: entry.id,
      user: user ? { first_name: user.first_name, email: user.email } : null,
      activity: entry.activity,
      scope: entry.scope,
      item_id: entry.item_id,
      detail: entry.detail as z.infer<typeof entrySchema>['detail'],
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
