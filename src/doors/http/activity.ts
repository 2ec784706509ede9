import type { Accounts } from '../../service/accounts/accounts.ts'
import type { ActivityEntry } from '../../service/accounts/records.ts'
import type { Where } from '../../service/accounts/store.ts'
import { type ActivityAnswer, type ActivityEntryAnswer, activitySchema } from '../answers/activity.ts'
import { time } from './present.ts'
import { begunStream, pacedBody } from './queries/streamed.ts'
import { type ProjectVisit, Reply, type Row, type Visit } from './resource.ts'
import { pageLink } from './site.ts'

export const activityParameters = { page: 'Page number, from 1', limit: 'Entries per page (default 10)' }

const utf8 = new TextEncoder()
const whole = (text: string | null, fallback: number): number => (text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : fallback)

const present = async (accounts: Accounts, entry: ActivityEntry): Promise<ActivityEntryAnswer> => {
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

/** Entries that are read at a time for a file. */
const readAtOnce = 500

/**
 * All matching entries, newest first, a JSON text a line. Each page begins at the time of the last entry, so that entries that are written meanwhile move
 * none onto the next page.
 */
async function* activityLines(accounts: Accounts, where: Where<ActivityEntry>): AsyncGenerator<Uint8Array, void, undefined> {
  const { activity } = accounts.context.store.read
  let last: Date | null = null
  let seen = new Set<string>() // of that time
  for (;;) {
    const limit: number = readAtOnce + seen.size
    const between = last && { created_at: { to: new Date(last.getTime() + 1) } }
    const page: readonly ActivityEntry[] = await activity.find(where, { newestFirst: 'created_at', limit, ...(between && { between }) })
    const fresh = page.filter(({ id }) => !seen.has(id))
    const lines = await Promise.all(fresh.map(async (entry) => `${JSON.stringify(await present(accounts, entry))}\n`))
    if (lines.length > 0) yield utf8.encode(lines.join(''))
    if (page.length < limit) return
    const end = page.at(-1)!.created_at
    const isSame = last?.getTime() === end.getTime()
    seen = new Set([
      ...(isSame ? seen : []),
      ...page.filter(({ created_at }) => created_at.getTime() === end.getTime()).map(({ id }) => id),
    ])
    last = end
  }
}

/** All matching entries as a file of lines of JSON. An error in the middle ends the connection, so that no client takes a part for the whole. */
export async function activityFile(visit: Visit, where: Where<ActivityEntry>, name: string): Promise<Reply> {
  const lines = await begunStream(activityLines(visit.app.accounts, where))
  return new Reply(200, pacedBody(lines, { stop: () => {}, ended: () => {}, breakOff: visit.breakOff }), {
    'content-type': 'application/x-ndjson',
    'content-disposition': `attachment; filename="${name}.jsonl"`,
  })
}

/** Matching entries, newest first. */
export const activityPage = async (visit: Visit, where: Where<ActivityEntry>): Promise<ActivityAnswer> => {
  const { accounts } = visit.app
  const limit = Math.min(whole(visit.query.get('limit'), 10), 1000)
  const page = whole(visit.query.get('page'), 1)
  const { activity } = accounts.context.store.read
  const total = await activity.count(where)
  const entries = await activity.find(where, { newestFirst: 'created_at', limit, offset: (page - 1) * limit })
  return {
    results: await Promise.all(entries.map((entry) => present(accounts, entry))),
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
