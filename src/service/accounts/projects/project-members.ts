import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, type Change, log } from '../context.ts'
import { check, integerOf, uuid } from '../fields.ts'
import { type AccountTables, level, type Membership, type ProjectMembership, type ProjectRecord, type User } from '../records.ts'
import { invalid, mustFind, notAllowed, notFound, projectLevelTooLow } from '../refusals.ts'
import { givenLevel } from './private-access.ts'

// Who has access to a private project by name, besides the administrators of the organization and the members of roles. A project that is not private is open to all members; its list
// takes effect when it becomes private.

export const projectLevel = integerOf([level.member, level.admin])
export const projectMemberInput = z.object({ user_uuid: uuid(), level: projectLevel.optional() })
export const projectMemberChange = z.object({ level: projectLevel })

export interface ProjectMember {
  readonly access: ProjectMembership
  readonly membership: Membership
  readonly user: User
}
type Reading = AccountContext['store']['read']

const withUser = async (tables: Reading, project: ProjectRecord, access: ProjectMembership): Promise<ProjectMember | undefined> => {
  const user = await tables.users.first({ id: access.user_id })
  const membership = await tables.memberships.first({ user_id: access.user_id, organization_id: project.organization_id })
  return user?.is_active && membership ? { access, user, membership } : undefined
}
const find = async (tables: Reading, project: ProjectRecord, userUuid: string): Promise<ProjectMember | undefined> => {
  const user = await tables.users.first({ uuid: userUuid })
  const access = user && (await tables.project_memberships.first({ project_id: project.id, user_id: user.id }))
  return access && withUser(tables, project, access)
}

/** The caller's current level in the project. */
const heldBy = async (tables: AccountTables, project: ProjectRecord, own: Membership): Promise<number> => {
  const now = await mustFind(tables.projects.first({ id: project.id }))
  if (!now.access_control || own.level >= level.admin || own.level < level.member) return own.level
  return (await givenLevel(tables, project.id, own.user_id)) ?? 0
}
/** Throws unless the caller may decide who sees the project. */
export const mustBeProjectAdmin = async (tables: AccountTables, project: ProjectRecord, own: Membership): Promise<void> => {
  if ((await heldBy(tables, project, own)) < level.admin) throw projectLevelTooLow()
}

const note = (
  by: ActingMember,
  project: ProjectRecord,
  activity: string,
  user: User,
  change: Pick<Change, 'action' | 'before' | 'after'>,
) => ({
  by: by.user,
  organization_id: project.organization_id,
  project_id: project.id,
  scope: 'Team',
  item_id: project.id,
  activity,
  name: project.name,
  changes: [{ type: 'Team', field: `access of ${user.email}`, ...change }],
})

export const createProjectMembers = (context: AccountContext) => {
  const { store } = context

  return {
    async list(project: ProjectRecord): Promise<readonly ProjectMember[]> {
      const rows = await store.read.project_memberships.find({ project_id: project.id }, { newestFirst: 'joined_at' })
      return (await Promise.all(rows.map((one) => withUser(store.read, project, one)))).filter((one) => one !== undefined)
    },
    byUserUuid: (project: ProjectRecord, uuid: string) => find(store.read, project, uuid),

    add: (by: ActingMember, project: ProjectRecord, body: unknown): Promise<ProjectMember> =>
      writeAs(context, by, async (tables, own) => {
        await mustBeProjectAdmin(tables, project, own)
        const { user_uuid, level: wanted = level.member } = check(projectMemberInput, body)
        if (user_uuid === by.user.uuid) throw notAllowed("You can't explicitly add yourself to projects.")
        const user = await tables.users.first({ uuid: user_uuid })
        const membership = user && (await tables.memberships.first({ user_id: user.id, organization_id: project.organization_id }))
        if (!user?.is_active || !membership)
          throw invalid('This user is not a member of the organization. Invite them first.', 'user_uuid', 'does_not_exist')
        if (await tables.project_memberships.first({ project_id: project.id, user_id: user.id }))
          throw invalid('This user already has access to the project.', 'user_uuid', 'unique')
        const now = context.clock()
        const access: ProjectMembership = {
          id: context.newId(),
          project_id: project.id,
          user_id: user.id,
          level: wanted,
          joined_at: now,
          updated_at: now,
        }
        await tables.project_memberships.insert(access)
        await log(context, tables, note(by, project, 'member_added', user, { action: 'created', before: null, after: wanted }))
        return { access, membership, user }
      }),

    update: (by: ActingMember, project: ProjectRecord, { user }: ProjectMember, body: unknown): Promise<ProjectMember> =>
      writeAs(context, by, async (tables, own) => {
        await mustBeProjectAdmin(tables, project, own)
        const { level: wanted } = check(projectMemberChange, body)
        if (user.id === by.user.id) throw notAllowed("You can't set your own access level.")
        const member = await find(tables, project, user.uuid)
        if (!member) throw notFound()
        if (member.access.level === wanted) return member
        const change = { level: wanted, updated_at: context.clock() }
        await tables.project_memberships.update({ id: member.access.id }, change)
        const levels = { action: 'changed', before: member.access.level, after: wanted } as const
        await log(context, tables, note(by, project, 'member_updated', user, levels))
        return { ...member, access: { ...member.access, ...change } }
      }),

    /** Leaving is always allowed. */
    remove: (by: ActingMember, project: ProjectRecord, { user }: ProjectMember): Promise<void> =>
      writeAs(context, by, async (tables, own) => {
        if (user.id !== by.user.id) await mustBeProjectAdmin(tables, project, own)
        const member = await find(tables, project, user.uuid)
        if (!member) throw notFound()
        await tables.project_memberships.remove({ id: member.access.id })
        const levels = { action: 'deleted', before: member.access.level, after: null } as const
        await log(context, tables, note(by, project, 'member_removed', user, levels))
      }),
  }
}
