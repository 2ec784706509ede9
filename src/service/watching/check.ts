import type { AccountContext } from '../accounts/context.ts'
import {
  type AccountStore,
  type AccountTables,
  level,
  type Organization,
  type ProjectRecord,
  type WatchState,
} from '../accounts/records.ts'
import { insertNotice, type Target } from '../notifications/insert-notice.ts'
import type { NoticeContent } from '../notifications/records.ts'
import { type Condition, conditions, type Detail, type Subject } from './conditions.ts'
import { type Measured, serverId } from './measured.ts'
import { type WatchName, watchNames } from './names.ts'

// What has begun and what is over, and the mails about it. Decided outside of the transaction, from what was measured; written in one transaction together with the
// mails, so that a process which ends before it has done nothing, and one which ends after it has done everything.

const stateId = (watch: WatchName, { project, id }: Subject): string => `${watch} ${project} ${id}`
const detailOf = ({ detail }: WatchState): Detail => detail as unknown as Detail
const linesOf = ({ lines }: WatchState): readonly string[] => lines as readonly string[]

/** What becomes of one problem. `mail`: whether owners are told now, where they want it. */
export interface Transition {
  readonly state: WatchState
  readonly isNew: boolean
  readonly mail: 'began' | 'ended' | null
}

function next(watch: WatchName, value: unknown, subject: Subject, known: WatchState | undefined, all: Measured): Transition | null {
  const { begins, isOver, calmMs, restMs }: Condition = conditions[watch]
  const now = new Date(all.now)
  const same = { isNew: false, mail: null } as const
  if (known && known.ended_at === null) {
    if (!isOver(value, detailOf(known), all)) {
      if (known.calm_since !== null) return { ...same, state: { ...known, calm_since: null } }
      // Nobody was told, perhaps because no mail server was set up.
      return known.told_at === null ? { ...same, state: known, mail: 'began' } : null
    }
    const calmSince = known.calm_since ?? now
    if (all.now - calmSince.getTime() < calmMs) return known.calm_since === null ? { ...same, state: { ...known, calm_since: now } } : null
    return { isNew: false, mail: 'ended', state: { ...known, calm_since: calmSince, ended_at: now } }
  }
  if (known?.ended_at && all.now - known.ended_at.getTime() < restMs) return null
  const begun = begins(value, all)
  if (!begun) return null
  const state: WatchState = {
    id: stateId(watch, subject),
    project_id: subject.project,
    watch,
    subject: subject.id,
    subject_name: subject.name.slice(0, 200),
    began_at: now,
    calm_since: null,
    ended_at: null,
    told_at: null,
    detail: begun.detail,
    lines: begun.lines.map((line) => line.slice(0, 1_000)),
  }
  return { state, isNew: !known, mail: 'began' }
}

/** What changes since the last check. */
export function transitions(all: Measured, known: readonly WatchState[]): readonly Transition[] {
  const byId = new Map(known.map((state) => [state.id, state]))
  const found: Transition[] = []
  const seen = new Set<string>()
  for (const watch of watchNames) {
    if (all.unknown.has(watch)) continue
    for (const { subject, value } of conditions[watch].measure(all)) {
      const id = stateId(watch, subject)
      seen.add(id)
      const one = next(watch, value, subject, byId.get(id), all)
      if (one) found.push(one)
    }
  }
  // The export or the plugin was removed: that is no news.
  for (const state of known)
    if (state.ended_at === null && !seen.has(state.id) && !all.unknown.has(state.watch as WatchName))
      found.push({ state: { ...state, ended_at: new Date(all.now) }, isNew: false, mail: null })
  return found
}

/** The organization that the server was set up with: its owners care for the server. */
export async function firstOrganization(tables: Pick<AccountStore['read'], 'organizations'>): Promise<Organization | undefined> {
  const all = await tables.organizations.find({})
  return [...all].sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1))[0]
}

async function ownersOf(tables: AccountTables, organizationId: string): Promise<readonly Target[]> {
  const owners = await tables.memberships.find({ organization_id: organizationId, level: level.owner })
  const users = owners.length > 0 ? await tables.users.find({ id: owners.map(({ user_id }) => user_id), is_active: true }) : []
  return users.map(({ email }) => ({ type: 'email', to: email }))
}

const time = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

function contentOf(
  state: WatchState,
  mail: 'began' | 'ended',
  project: ProjectRecord | undefined,
  home: number,
  siteUrl: string,
): NoticeContent {
  const watch = state.watch as WatchName
  const { subjects, page } = conditions[watch]
  const place = project && state.subject_name !== '' ? `“${state.subject_name}” (${project.name})` : (project?.name ?? siteUrl)
  const about = project ? `It is about the project ${project.name}.` : `It is about the server ${siteUrl}.`
  const since = `It began at ${time(state.began_at)}${mail === 'ended' ? ` and ended at ${time(state.ended_at!)}` : ''}.`
  const { began_at, ended_at, subject } = state
  return {
    type: `watch.${mail}`,
    subject: project ? subjects(place)[mail] : `${subjects(place)[mail]} (${siteUrl})`,
    lines: mail === 'began' ? [...linesOf(state), `${about} ${since}`] : [since, about],
    url: `${siteUrl}/#/project/${project?.id ?? home}/${page}`,
    timezone: project?.timezone ?? 'UTC',
    items: [],
    source: { watch, subject, began_at: began_at.toISOString(), ended_at: ended_at?.toISOString() ?? null },
  }
}

const isOff = async (tables: AccountTables, { project_id, watch }: WatchState): Promise<boolean> =>
  ((await tables.watch_settings.first({ project_id }))?.off as readonly string[] | undefined)?.includes(watch) === true

/** Whether owners were told. */
async function tell(
  context: AccountContext,
  tables: AccountTables,
  state: WatchState,
  mail: 'began' | 'ended',
  now: Date,
): Promise<boolean> {
  if (context.mailer() === null || (await isOff(tables, state))) return false
  const isServer = state.project_id === serverId
  const project = isServer ? undefined : await tables.projects.first({ id: state.project_id })
  const organizationId = isServer ? (await firstOrganization(tables))?.id : project?.organization_id
  if (organizationId === undefined) return false
  const home = (await tables.projects.first({ organization_id: organizationId }))?.id ?? serverId
  const content = contentOf(state, mail, project, home, context.settings().siteUrl)
  const of = { project_id: state.project_id, alert_id: null, subscription_id: null, watch: state.watch, due_at: now }
  return (await insertNotice({ context }, tables, now, of, content, await ownersOf(tables, organizationId))).length > 0
}

/** Writes one transition, with its mails. False: there is no such project any more. */
export async function write(
  context: AccountContext,
  tables: AccountTables,
  { state, isNew, mail }: Transition,
  now: Date,
): Promise<boolean> {
  const { id, project_id } = state
  if (project_id !== serverId && !(await tables.projects.first({ id: project_id }))) return false
  const isTold = mail !== null && (mail === 'began' || state.told_at !== null) && (await tell(context, tables, state, mail, now))
  const row: WatchState = { ...state, ...(mail === 'began' && isTold && { told_at: now }) }
  const { id: _, ...change } = row
  if (isNew) await tables.watch_states.insert(row)
  else await tables.watch_states.update({ id }, change)
  return true
}
