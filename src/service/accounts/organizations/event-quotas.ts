import { type AccountContext, post } from '../context.ts'
import { settingWithDefault } from '../projects/project-fields.ts'
import { type AccountTables, type EventCount, level, type ProjectRecord } from '../records.ts'

// How many events of clients a project takes on one day, in UTC. Its key is public, so anybody can send: the operator bounds every project, and the
// owners theirs within that. What exceeds it is refused, and the owners get one mail a day.

export interface EventQuota {
  /** Null: no limit. */
  readonly limit: number | null
  readonly taken: number
  readonly resets_at: string
}

export interface QuotaRefusal {
  readonly detail: string
  readonly retryAfterSeconds: number
}

interface Day {
  readonly day: string
  taken: number
  /** Not stored yet. */
  unstored: number
  refused: number
  isTold: boolean
}

const dayMs = 86_400_000
const largestCount = 2_147_483_647
/** After a crash the count may lack this many events, or a thousandth of the limit. */
const countEvery = 1_000
/** Clients retry after this time at most: some sleep as long as they are told. */
const longestWaitSeconds = 3_600

let latest = { number: Number.NaN, text: '' }
/** Asked with each request. */
const dayOf = (now: Date): string => {
  const number = Math.floor(now.getTime() / dayMs)
  if (number !== latest.number) latest = { number, text: now.toISOString().slice(0, 10) }
  return latest.text
}
const number = (value: number) => value.toLocaleString('en-US')

const operatorLimit = (context: AccountContext, { events_per_day: own }: ProjectRecord): number | null => {
  const limit = own ?? context.settings().eventsPerDay
  return limit === null || limit === 0 ? null : limit
}
const limitOf = (context: AccountContext, project: ProjectRecord): number | null => {
  const limits = [operatorLimit(context, project), settingWithDefault(project.settings, 'daily_event_limit')].filter(
    (one) => typeof one === 'number',
  )
  return limits.length === 0 ? null : Math.min(...limits)
}

/** What other servers have counted since the last time. */
const withOthers = async (tables: AccountTables, id: number, known: Day, unstored: number): Promise<void> => {
  const stored = await tables.event_counts.first({ project_id: id })
  const before = stored?.day === known.day ? stored : null
  known.taken = (before?.events ?? 0) + unstored + known.unstored
  known.isTold ||= before?.is_told === true
}

const write = async ({ store, isShared }: AccountContext, id: number, known: Day): Promise<void> => {
  const { unstored } = known
  known.unstored = 0
  await store.write(async (tables: AccountTables) => {
    if (!(await tables.projects.first({ id }))) return
    if (isShared) await withOthers(tables, id, known, unstored)
    const row: EventCount = {
      project_id: id,
      day: known.day,
      events: Math.min(known.taken, largestCount),
      refused: Math.min(known.refused, largestCount),
      is_told: known.isTold,
    }
    if ((await tables.event_counts.update({ project_id: id }, row)) === 0) await tables.event_counts.insert(row)
  })
}

const tell = async (context: AccountContext, project: ProjectRecord, limit: number): Promise<void> => {
  const memberships = await context.store.read.memberships.find({ organization_id: project.organization_id, level: level.owner })
  const owners = await context.store.read.users.find({ id: memberships.map(({ user_id }) => user_id) })
  const text = [
    `The project "${project.name}" has accepted ${number(limit)} events today, its daily limit. Further events are refused until 00:00 UTC.`,
    '',
    'The project key is public: if you did not send them, create a new key in the settings of the project. If you did, raise the limit there, or ask',
    'the operator of the server.',
    '',
    `Settings: ${context.settings().siteUrl}/#/settings`,
  ].join('\n')
  const subject = `${project.name}: the event limit for today is reached`
  await post(
    context,
    project.organization_id,
    owners.filter(({ is_active }) => is_active).map(({ email }) => ({ to: email, subject, text })),
  )
}

export const createEventQuotas = (context: AccountContext) => {
  const { store, clock } = context
  const days = new Map<number, Day>()

  const loading = new Map<number, Promise<Day>>()
  const load = async (id: number, day: string): Promise<Day> => {
    const stored = await store.read.event_counts.first({ project_id: id })
    const isToday = stored?.day === day
    const loaded: Day = {
      day,
      taken: isToday ? stored.events : 0,
      unstored: 0,
      refused: isToday ? stored.refused : 0,
      isTold: isToday && stored.is_told,
    }
    days.set(id, loaded)
    return loaded
  }
  /** The day of a project. Requests that arrive together share it. */
  const today = async (id: number): Promise<Day> => {
    const day = dayOf(clock())
    const known = days.get(id)
    if (known?.day === day) return known
    const key = loading.get(id) ?? load(id, day).finally(() => loading.delete(id))
    loading.set(id, key)
    return key
  }

  return {
    limitOf: (project: ProjectRecord) => limitOf(context, project),
    operatorLimit: (project: ProjectRecord) => operatorLimit(context, project),
    async of(project: ProjectRecord): Promise<EventQuota> {
      const day = dayOf(clock())
      const { taken } = await today(project.id)
      return { limit: limitOf(context, project), taken, resets_at: new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString() }
    },

    /** What projects with a limit have taken today, of those that have ever counted. */
    async all(): Promise<readonly { readonly project: number; readonly taken: number; readonly limit: number }[]> {
      const day = dayOf(clock())
      const stored = await store.read.event_counts.find({})
      const taken = new Map(stored.map((row) => [row.project_id, row.day === day ? row.events : 0]))
      for (const [id, known] of days) taken.set(id, known.day === day ? known.taken : 0)
      const projects = taken.size === 0 ? [] : await store.read.projects.find({ id: [...taken.keys()] })
      return projects.flatMap((project) => {
        const limit = limitOf(context, project)
        return limit === null ? [] : [{ project: project.id, taken: taken.get(project.id)!, limit }]
      })
    },

    /** Null: the events are taken. A batch that begins within the limit is taken as a whole. */
    async refusal(project: ProjectRecord, events: number): Promise<QuotaRefusal | null> {
      const limit = limitOf(context, project)
      if (limit === null) return null
      const known = await today(project.id)
      if (known.taken < limit) return null
      const isFirst = !known.isTold
      known.isTold = true
      known.refused += events
      if (isFirst) {
        await write(context, project.id, known)
        void tell(context, project, limit).catch((error: unknown) => context.report('failed to notify owners of the event limit', error))
      }
      const untilMidnight = Math.ceil((dayMs - (clock().getTime() % dayMs)) / 1000)
      return {
        detail: `The project has accepted ${number(limit)} events today, its daily limit. It accepts events again from 00:00 UTC; the owners can see and set the limit in the settings of the project.`,
        retryAfterSeconds: Math.max(1, Math.min(longestWaitSeconds, untilMidnight)),
      }
    },

    /** Counts what was taken: visible immediately, stored at intervals. */
    async count(project: ProjectRecord, events: number): Promise<void> {
      const limit = limitOf(context, project)
      if (events === 0 || limit === null) return
      const known = await today(project.id)
      const before = known.taken
      known.taken += events
      known.unstored += events
      const isOver = before < limit && known.taken >= limit
      if (known.unstored >= Math.max(countEvery, Math.floor(limit / 1000)) || isOver) await write(context, project.id, known)
    },

    /** Stores the counts. */
    async flush(): Promise<void> {
      for (const [id, known] of days) if (known.unstored > 0) await write(context, id, known)
    },

    /** The operator's limit of one project: null is that of the server, 0 none. */
    async setByOperator(id: number, limit: number | null): Promise<void> {
      await store.write((tables) => tables.projects.update({ id }, { events_per_day: limit, updated_at: clock() }))
    },
  }
}
export type EventQuotas = ReturnType<typeof createEventQuotas>
