import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, entryAbout, log } from '../context.ts'
import { check, integerOf, text, uuid } from '../fields.ts'
import type { AccountTables, Role, RoleMembership } from '../records.ts'
import { invalid, mustFind, notFound } from '../refusals.ts'

export const roleAccess = { view: 21, edit: 37 } as const
export const roleInput = z.object({
  name: text({ max: 200 }),
  feature_flags_access_level: integerOf([roleAccess.view, roleAccess.edit]).optional(),
})
export const roleMembershipInput = z.object({ user_uuid: uuid() })

/** Another role with the name, ignoring case. */
export const roleNamed = async (tables: AccountTables, organization_id: string, name: string, own?: Role): Promise<Role | undefined> =>
  (await tables.roles.find({ organization_id })).find((one) => one.id !== own?.id && one.name.toLowerCase() === name.toLowerCase())

export async function removeRole(tables: AccountTables, { id }: Role): Promise<void> {
  await tables.role_memberships.remove({ role_id: id })
  await tables.project_roles.remove({ role_id: id })
  await tables.roles.remove({ id })
}

export const createRoles = (context: AccountContext) => {
  const { store } = context
  const note = (by: ActingMember, role: Role, activity: string) => entryAbout('Role', role, role.name, by.user, activity)
  const mustBeFree = async (tables: AccountTables, organizationId: string, name: string, own?: Role) => {
    if (await roleNamed(tables, organizationId, name, own)) throw invalid('There is already a role with this name.', 'name', 'unique')
  }
  const asItIs = (tables: AccountTables, id: string): Promise<Role> => mustFind(tables.roles.first({ id }))
  return {
    list: (organizationId: string) => store.read.roles.find({ organization_id: organizationId }),
    byId: (organizationId: string, id: string) => store.read.roles.first({ id, organization_id: organizationId }),
    /** Of members of the organization: an identity provider also names users whom it has deactivated. */
    async membershipsOf(role: Role): Promise<readonly RoleMembership[]> {
      const all = await store.read.role_memberships.find({ role_id: role.id })
      const members = await store.read.memberships.find({ organization_id: role.organization_id, user_id: all.map((one) => one.user_id) })
      const ids = new Set(members.map(({ user_id }) => user_id))
      return all.filter(({ user_id }) => ids.has(user_id))
    },
    membershipById: (role: Role, id: string) => store.read.role_memberships.first({ id, role_id: role.id }),

    create: (by: ActingMember, body: unknown): Promise<Role> =>
      writeAs(context, by, async (tables, { organization_id }) => {
        const input = check(roleInput, body)
        await mustBeFree(tables, organization_id, input.name)
        const role: Role = {
          id: context.newId(),
          organization_id,
          name: input.name,
          feature_flags_access_level: input.feature_flags_access_level ?? roleAccess.edit,
          created_by_id: by.user.id,
          created_at: context.clock(),
          scim_domain_id: null,
          external_id: null,
        }
        await tables.roles.insert(role)
        await log(context, tables, note(by, role, 'created'))
        return role
      }),

    update: (by: ActingMember, { id }: Role, body: unknown): Promise<Role> =>
      writeAs(context, by, async (tables) => {
        const role = await asItIs(tables, id)
        const change = check(roleInput.partial(), body)
        if (change.name !== undefined) await mustBeFree(tables, role.organization_id, change.name, role)
        await tables.roles.update({ id: role.id }, change)
        const changes = changesOf('Role', role, change)
        if (changes.length > 0) await log(context, tables, { ...note(by, role, 'updated'), changes })
        return { ...role, ...change }
      }),

    remove: (by: ActingMember, { id }: Role): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const role = await asItIs(tables, id)
        await removeRole(tables, role)
        await log(context, tables, note(by, role, 'deleted'))
      }),

    addMember: (by: ActingMember, { id }: Role, body: unknown): Promise<RoleMembership> =>
      writeAs(context, by, async (tables) => {
        const role = await asItIs(tables, id)
        const { user_uuid } = check(roleMembershipInput, body)
        const user = await tables.users.first({ uuid: user_uuid })
        const isMember = user && (await tables.memberships.first({ user_id: user.id, organization_id: role.organization_id }))
        if (!user?.is_active || !isMember) throw invalid('User does not exist.')
        if (await tables.role_memberships.first({ user_id: user.id, role_id: role.id })) throw invalid('User is already part of the role.')
        const now = context.clock()
        const membership: RoleMembership = { id: context.newId(), role_id: role.id, user_id: user.id, joined_at: now, updated_at: now }
        await tables.role_memberships.insert(membership)
        await log(context, tables, {
          ...note(by, role, 'member_added'),
          changes: [{ type: 'Role', action: 'created', field: 'members', before: null, after: user.uuid }],
        })
        return membership
      }),

    removeMember: (by: ActingMember, role: Role, membership: RoleMembership): Promise<void> =>
      writeAs(context, by, async (tables) => {
        if ((await tables.role_memberships.remove({ id: membership.id })) === 0) throw notFound()
        const user = await tables.users.first({ id: membership.user_id })
        await log(context, tables, {
          ...note(by, role, 'member_removed'),
          changes: [{ type: 'Role', action: 'deleted', field: 'members', before: user?.uuid ?? null, after: null }],
        })
      }),
  }
}
