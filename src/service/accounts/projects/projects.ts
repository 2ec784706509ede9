import { isObject } from '../../../lib/is-object.ts'
import { isMaskOf, maskedAddress } from '../../../lib/web/masked-address.ts'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, type Change, changesOf, log, nextNumber } from '../context.ts'
import { check } from '../fields.ts'
import { featureLimit, hasFeature } from '../organizations/features.ts'
import { type AccountTables, level, type Membership, type ProjectRecord, type User } from '../records.ts'
import { invalid, levelTooLow, mustFind, noSuch, notAllowed, notFound, upgradeNeeded } from '../refusals.ts'
import { randomKey } from '../secrets/secrets.ts'
import type { Json } from '../store.ts'
import { moveCurrent } from '../users/users.ts'
import { newDashboard } from './dashboard-rows.ts'
import { givenLevel } from './private-access.ts'
import { isSetting, newProjectInput, projectInput, settingsWithDefaults } from './project-fields.ts'
import { removeProjectRows } from './project-rows.ts'

const publicMailers = new Set(
  'gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com icloud.com me.com mac.com aol.com gmx.com gmx.de gmx.net web.de proton.me protonmail.com mail.com mail.ru yandex.ru yandex.com qq.com 163.com 126.com zoho.com fastmail.com hey.com'.split(
    ' ',
  ),
)
/** By default, people with the company's e-mail domain are test accounts. */
const ownPeople = (user: User | null): Json => {
  const domain = user?.email.split('@')[1]
  if (!domain || publicMailers.has(domain)) return []
  return [{ key: 'email', value: `@${domain}`, operator: 'not_icontains', type: 'person' }]
}

const split = (input: Readonly<Record<string, unknown>>) => {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined)
  return {
    columns: Object.fromEntries(entries.filter(([name]) => !isSetting(name))),
    settings: Object.fromEntries(entries.filter(([name]) => isSetting(name))) as Record<string, Json>,
  }
}

export interface NewProject {
  /** A fixed id, for imported records. */
  readonly id?: number
  readonly api_token?: string
  readonly week_start_day?: number | null
  readonly [field: string]: unknown
}

export const insertProject = async (
  context: AccountContext,
  tables: AccountTables,
  by: User | null,
  organizationId: string,
  body: NewProject,
): Promise<ProjectRecord> => {
  const { columns, settings } = split(check(newProjectInput, body))
  const now = context.clock()
  const people = ownPeople(by)
  const dashboard = await nextNumber(tables, 'dashboard')
  const project: ProjectRecord = {
    id: await nextNumber(tables, 'project'),
    uuid: context.newId(),
    organization_id: organizationId,
    name: 'Default Project',
    api_token: body.api_token ?? randomKey('phc_'),
    created_at: now,
    updated_at: now,
    is_demo: false,
    access_control: false,
    ingested_event: false,
    timezone: 'UTC',
    week_start_day: null,
    events_per_day: null,
    settings: {
      primary_dashboard: dashboard,
      ...(Array.isArray(people) && people.length > 0 ? { test_account_filters: people } : {}),
      ...settings,
    },
    ...columns,
  }
  await tables.projects.insert(project)
  await tables.dashboards.insert(newDashboard({ id: dashboard, project_id: project.id, name: 'My App Dashboard', now, by }))
  await log(context, tables, {
    by,
    organization_id: organizationId,
    project_id: project.id,
    scope: 'Team',
    item_id: project.id,
    activity: 'created',
    name: project.name,
  })
  return project
}

/** The address of a webhook is its token. */
const withoutToken = (change: Change): Change =>
  change.field === 'slack_incoming_webhook'
    ? {
        ...change,
        before: change.before && maskedAddress(String(change.before)),
        after: change.after && maskedAddress(String(change.after)),
      }
    : change
const flat = (project: ProjectRecord) => ({ ...project, ...settingsWithDefaults(project.settings) })

/** A member's level in a project: a private project is closed to members without access. */
const levelIn = async ({ store }: AccountContext, project: ProjectRecord, membership: Membership | undefined): Promise<number | null> => {
  if (!membership) return null
  if (!project.access_control || membership.level >= level.admin) return membership.level
  const given = await givenLevel(store.read, project.id, membership.user_id)
  // Who may change nothing in the organization may change nothing in a private project either.
  return given !== null && membership.level < level.member ? Math.min(given, membership.level) : given
}

const mustBeOrganizationAdmin = (membership: Membership | undefined, change: Readonly<Record<string, unknown>>) => {
  if (change.access_control !== undefined && (membership?.level ?? 0) < level.admin) throw levelTooLow()
}
const mustBeOwnDashboard = async (tables: AccountTables, projectId: number | null, id: unknown) => {
  const found = typeof id === 'number' ? await tables.dashboards.first({ id }) : undefined
  if (typeof id === 'number' && (!found || found.deleted)) throw noSuch(id, 'primary_dashboard')
  if (found && found.project_id !== projectId) throw notAllowed('Dashboard does not belong to this team.')
}

const mustBeAllowedToLimit = (
  context: AccountContext,
  project: ProjectRecord,
  membership: Membership | undefined,
  isOperator: boolean,
  limit: Json,
) => {
  if (!isOperator && (membership?.level ?? 0) < level.admin) throw levelTooLow()
  const most = project.events_per_day ?? context.settings().eventsPerDay
  if (typeof limit === 'number' && most !== null && most !== 0 && limit > most)
    throw invalid(`The operator of this server allows ${most} events a day.`, 'daily_event_limit', 'max_value')
}

/** Null: the operator, who is not a member. */
const writeBy = <T>(
  context: AccountContext,
  by: ActingMember | null,
  work: (tables: AccountTables, membership: Membership | undefined) => Promise<T>,
): Promise<T> => (by ? writeAs(context, by, work) : context.store.write((tables) => work(tables, undefined)))
const reads = (context: AccountContext) => ({
  byId: (id: number) => context.store.read.projects.first({ id }),
  byToken: (token: string) => context.store.read.projects.first({ api_token: token }),
  levelIn: (project: ProjectRecord, membership: Membership | undefined) => levelIn(context, project, membership),

  /** The projects of an organization that are open to the member. */
  async visible(organizationId: string, membership: Membership | undefined): Promise<readonly ProjectRecord[]> {
    const all = await context.store.read.projects.find({ organization_id: organizationId })
    const open = await Promise.all(all.map((project) => levelIn(context, project, membership)))
    return all.filter((_, i) => open[i] !== null)
  },
})

export const createProjects = (context: AccountContext) => {
  const { store } = context

  return {
    ...reads(context),
    flat,

    async create(by: ActingMember, body: Readonly<Record<string, unknown>>): Promise<ProjectRecord> {
      const isDemo = check(newProjectInput.pick({ is_demo: true }), body).is_demo === true
      const project = await writeAs(context, by, async (tables, membership) => {
        const organization = await mustFind(tables.organizations.first({ id: membership.organization_id }))
        const others = await tables.projects.count({ organization_id: organization.id, is_demo: isDemo })
        const most =
          isDemo || !hasFeature(organization, 'organizations_projects') ? 1 : featureLimit(organization, 'organizations_projects')
        if (most !== null && others >= most) throw upgradeNeeded('projects')
        if (!isDemo && membership.level < level.admin) throw levelTooLow()
        const input = check(newProjectInput, body)
        mustBeOrganizationAdmin(membership, input)
        await mustBeOwnDashboard(tables, null, (input as Record<string, unknown>).primary_dashboard)
        const made = await insertProject(context, tables, by.user, organization.id, input)
        await tables.users.update({ id: by.user.id }, { current_organization_id: organization.id, current_project_id: made.id })
        return made
      })
      await context.projectStores.create(project.id)
      return project
    },

    update: (by: ActingMember | null, { id }: ProjectRecord, body: unknown): Promise<ProjectRecord> =>
      writeBy(context, by, async (tables, membership) => {
        const project = await mustFind(tables.projects.first({ id })) // with the settings that others changed meanwhile
        const change = check(projectInput, body)
        if (by) mustBeOrganizationAdmin(membership, change)
        const { columns, settings } = split(change)
        await mustBeOwnDashboard(tables, project.id, settings.primary_dashboard)
        const hook = settingsWithDefaults(project.settings).slack_incoming_webhook
        if (typeof hook === 'string' && isMaskOf(settings.slack_incoming_webhook, hook)) delete settings.slack_incoming_webhook
        if (settings.data_retention !== undefined && by && (membership?.level ?? 0) < level.admin) throw levelTooLow()
        if (settings.daily_event_limit !== undefined)
          mustBeAllowedToLimit(context, project, membership, by === null, settings.daily_event_limit)
        const [old, asked] = [settingsWithDefaults(project.settings).session_replay_config, settings.session_replay_config]
        // Its keys are set one by one: others stay unchanged.
        if (isObject(old) && isObject(asked)) settings.session_replay_config = { ...old, ...asked } as Json
        const updated = {
          ...columns,
          ...(Object.keys(settings).length > 0 ? { settings: { ...(project.settings as object), ...settings } as Json } : {}),
          updated_at: context.clock(),
        }
        await tables.projects.update({ id: project.id }, updated)
        if (settings.data_retention !== undefined) await tables.retention_runs.remove({ project_id: project.id }) // it is due now
        const changes = changesOf('Team', flat(project), { ...columns, ...settings }).map(withoutToken)
        if (changes.length > 0)
          await log(context, tables, {
            by: by?.user ?? null,
            organization_id: project.organization_id,
            project_id: project.id,
            scope: 'Team',
            item_id: project.id,
            activity: 'updated',
            name: change.name ?? project.name,
            changes,
          })
        return { ...project, ...updated }
      }),

    /** Not logged: no user made this change. */
    noteFirstEvents: async (id: number): Promise<void> => {
      await store.write((tables) => tables.projects.update({ id, ingested_event: false }, { ingested_event: true }))
    },

    /** The old token is invalid immediately. */
    resetToken: (by: ActingMember, { id }: ProjectRecord): Promise<ProjectRecord> =>
      writeAs(context, by, async (tables) => {
        const project = await mustFind(tables.projects.first({ id }))
        const updated = { api_token: randomKey('phc_'), updated_at: context.clock() }
        await tables.projects.update({ id: project.id }, updated)
        await log(context, tables, {
          by: by.user,
          organization_id: project.organization_id,
          project_id: project.id,
          scope: 'Team',
          item_id: project.id,
          activity: 'updated',
          name: project.name,
          changes: [{ type: 'Team', action: 'changed', field: 'api_token', before: null, after: null }],
        })
        return { ...project, ...updated }
      }),

    /** Deletes its rows and its folder. One entry of the activity log remains. */
    async remove(by: ActingMember | null, project: ProjectRecord): Promise<void> {
      await writeBy(context, by, async (tables) => {
        if ((await tables.projects.remove({ id: project.id })) === 0) throw notFound()
        await removeProjectRows(tables, [project.id])
        for (const member of await tables.users.find({ current_project_id: project.id })) await moveCurrent(tables, member)
        await log(context, tables, {
          by: by?.user ?? null,
          organization_id: project.organization_id,
          scope: 'Team',
          item_id: project.id,
          activity: 'deleted',
          name: project.name,
        })
      })
      await context.projectStores.remove(project.id)
    },
  }
}
