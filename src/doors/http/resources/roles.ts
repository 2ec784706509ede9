import { roleInput, roleMembershipInput } from '../../../service/accounts/organizations/roles.ts'
import type { Role, RoleMembership } from '../../../service/accounts/records.ts'
import { membershipSchema, type RoleAnswer, type RoleMembershipAnswer, roleSchema } from '../../answers/roles.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { presentAuthor, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { OrganizationVisit } from '../resource.ts'

const presentMembership = async ({ accounts }: App, membership: RoleMembership): Promise<RoleMembershipAnswer> => ({
  id: membership.id,
  role_id: membership.role_id,
  user: await presentAuthor(accounts, membership.user_id),
  joined_at: time(membership.joined_at),
  updated_at: time(membership.updated_at),
})
const membersOf = async (app: App, role: Role) =>
  Promise.all((await app.accounts.roles.membershipsOf(role)).map((one) => presentMembership(app, one)))
const present = async (app: App, role: Role): Promise<RoleAnswer> => ({
  id: role.id,
  name: role.name,
  feature_flags_access_level: role.feature_flags_access_level,
  created_at: time(role.created_at),
  created_by: await presentAuthor(app.accounts, role.created_by_id),
  members: await membersOf(app, role),
  from_domain: role.scim_domain_id ? ((await app.accounts.domains.byId(role.organization_id, role.scim_domain_id))?.domain ?? null) : null,
  associated_flags: [],
})

const find = async ({ app, organization }: OrganizationVisit, id: string | undefined): Promise<Role> => {
  const role = await app.accounts.roles.byId(organization.id, id ?? '')
  if (!role) throw failures.notFound()
  return role
}
const findMembership = async ({ app, params }: OrganizationVisit, role: Role): Promise<RoleMembership> => {
  const membership = await app.accounts.roles.membershipById(role, params.id ?? '')
  if (!membership) throw failures.notFound()
  return membership
}
const tooLow = 'You need to have admin level or higher.'

export const roles = defineRecords({
  name: 'roles',
  summary: 'Roles of an organization',
  path: '/api/organizations/:organization_id/roles',
  reach: 'organization',
  object: 'organization',
  write: 'admin',
  tooLow,
  answer: roleSchema,
  present: ({ app }, role: Role) => present(app, role),
  rows: ({ list, create, retrieve, update, remove }) => [
    list({
      summary: 'Roles in order of creation',
      handle: async ({ app, organization }) => app.accounts.roles.list(organization.id),
    }),
    create({
      summary: 'Creates a role; names are unique, ignoring case',
      body: roleInput,
      handle: async ({ app, by, body }) => app.accounts.roles.create(by, body),
    }),
    retrieve({
      summary: 'One role with its members',
      handle: async (visit) => find(visit, visit.params.id),
    }),
    update({
      summary: 'Changes a role',
      body: roleInput.partial(),
      handle: async (visit) => visit.app.accounts.roles.update(visit.by, await find(visit, visit.params.id), visit.body),
    }),
    remove({
      summary: 'Removes a role',
      handle: async (visit) => visit.app.accounts.roles.remove(visit.by, await find(visit, visit.params.id)),
    }),
  ],
})

export const roleMemberships = defineRecords({
  name: 'role_memberships',
  summary: 'Who has a role',
  path: '/api/organizations/:organization_id/roles/:role_id/role_memberships',
  reach: 'organization',
  object: 'organization',
  write: 'admin',
  tooLow,
  answer: membershipSchema,
  present: ({ app }, membership: RoleMembership) => presentMembership(app, membership),
  rows: ({ list, create, retrieve, remove }) => [
    list({
      summary: 'The members of a role',
      handle: async (visit) => visit.app.accounts.roles.membershipsOf(await find(visit, visit.params.role_id)),
    }),
    create({
      summary: 'Gives a member of the organization the role',
      body: roleMembershipInput,
      handle: async (visit) => {
        const role = await find(visit, visit.params.role_id)
        return visit.app.accounts.roles.addMember(visit.by, role, visit.body)
      },
    }),
    retrieve({
      summary: 'One member of the role',
      handle: async (visit) => findMembership(visit, await find(visit, visit.params.role_id)),
    }),
    remove({
      summary: 'Takes the role from a member',
      handle: async (visit) => {
        const role = await find(visit, visit.params.role_id)
        const membership = await findMembership(visit, role)
        await visit.app.accounts.roles.removeMember(visit.by, role, membership)
      },
    }),
  ],
})
