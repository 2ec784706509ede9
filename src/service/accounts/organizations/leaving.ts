import type { AccountTables, Membership } from '../records.ts'

/**
 * Removes a membership, and what it gave: access to private projects, and roles. `keepsProvided`: an identity provider goes on to name the user as a member of the roles that it has
 * made; without a membership they give nothing.
 */
export async function endMembership(
  tables: AccountTables,
  { id, organization_id, user_id }: Membership,
  { keepsProvided = false } = {},
): Promise<void> {
  const projects = (await tables.projects.find({ organization_id })).map((one) => one.id)
  const roles = (await tables.roles.find({ organization_id })).filter(({ scim_domain_id }) => !(keepsProvided && scim_domain_id))
  await tables.memberships.remove({ id })
  await tables.project_memberships.remove({ user_id, project_id: projects })
  await tables.role_memberships.remove({ user_id, role_id: roles.map((one) => one.id) })
}
