import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, type Change, log } from '../context.ts'
import { check, uuid } from '../fields.ts'
import { type AccountTables, level, type ProjectRecord, type ProjectRole, type Role } from '../records.ts'
import { invalid, notFound } from '../refusals.ts'
import { mustBeProjectAdmin, projectLevel } from './project-members.ts'

// Roles that have access to a private project: users who have the role have it, at once, and as long as that is so. Of several levels the highest counts.

export const projectRoleInput = z.object({ role_id: uuid(), level: projectLevel.optional() })
export const projectRoleChange = z.object({ level: projectLevel })

export interface RoleAccess {
  readonly access: ProjectRole
  readonly role: Role
}
type Reading = AccountContext['store']['read']

const find = async (tables: Reading | AccountTables, project: ProjectRecord, role_id: string): Promise<RoleAccess | undefined> => {
  const role = await tables.roles.first({ id: role_id, organization_id: project.organization_id })
  const access = role && (await tables.project_roles.first({ project_id: project.id, role_id }))
  return role && access && { access, role }
}
const note = (
  by: ActingMember,
  project: ProjectRecord,
  activity: string,
  role: Role,
  change: Pick<Change, 'action' | 'before' | 'after'>,
) => ({
  by: by.user,
  organization_id: project.organization_id,
  project_id: project.id,
  scope: 'Team',
  item_id: project.id,
  activity,
  name: project.name,
  changes: [{ type: 'Team', field: `access of the role ${role.name}`, ...change }],
})

export const createProjectRoles = (context: AccountContext) => {
  const { store } = context
  return {
    async list(project: ProjectRecord): Promise<readonly RoleAccess[]> {
      const rows = await store.read.project_roles.find({ project_id: project.id }, { newestFirst: 'created_at' })
      return (await Promise.all(rows.map((one) => find(store.read, project, one.role_id)))).filter((one) => one !== undefined)
    },
    byRole: (project: ProjectRecord, roleId: string) => find(store.read, project, roleId.toLowerCase()),

    add: (by: ActingMember, project: ProjectRecord, body: unknown): Promise<RoleAccess> =>
      writeAs(context, by, async (tables, own) => {
        await mustBeProjectAdmin(tables, project, own)
        const { role_id, level: wanted = level.member } = check(projectRoleInput, body)
        const role = await tables.roles.first({ id: role_id, organization_id: project.organization_id })
        if (!role) throw invalid('The organization has no such role.', 'role_id', 'does_not_exist')
        if (await tables.project_roles.first({ project_id: project.id, role_id }))
          throw invalid('This role already has access to the project.', 'role_id', 'unique')
        const now = context.clock()
        const access: ProjectRole = {
          id: context.newId(),
          project_id: project.id,
          role_id,
          level: wanted,
          created_at: now,
          updated_at: now,
        }
        await tables.project_roles.insert(access)
        await log(context, tables, note(by, project, 'role_added', role, { action: 'created', before: null, after: wanted }))
        return { access, role }
      }),

    update: (by: ActingMember, project: ProjectRecord, { role: { id } }: RoleAccess, body: unknown): Promise<RoleAccess> =>
      writeAs(context, by, async (tables, own) => {
        await mustBeProjectAdmin(tables, project, own)
        const { level: wanted } = check(projectRoleChange, body)
        const found = await find(tables, project, id)
        if (!found) throw notFound()
        if (found.access.level === wanted) return found
        const change = { level: wanted, updated_at: context.clock() }
        await tables.project_roles.update({ id: found.access.id }, change)
        const levels = { action: 'changed', before: found.access.level, after: wanted } as const
        await log(context, tables, note(by, project, 'role_updated', found.role, levels))
        return { ...found, access: { ...found.access, ...change } }
      }),

    remove: (by: ActingMember, project: ProjectRecord, { role: { id } }: RoleAccess): Promise<void> =>
      writeAs(context, by, async (tables, own) => {
        await mustBeProjectAdmin(tables, project, own)
        const found = await find(tables, project, id)
        if (!found) throw notFound()
        await tables.project_roles.remove({ id: found.access.id })
        const levels = { action: 'deleted', before: found.access.level, after: null } as const
        await log(context, tables, note(by, project, 'role_removed', found.role, levels))
      }),
  }
}
