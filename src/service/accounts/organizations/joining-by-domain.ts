import { type AccountContext, type From, log } from '../context.ts'
import { type AccountTables, type Domain, lowestLevel, type User } from '../records.ts'
import type { Json } from '../store.ts'
import { insertMembership } from './organizations.ts'

/** Membership at the lowest level in the organization of the domain. False: the user has one already. */
export async function joinByDomain(
  context: AccountContext,
  tables: AccountTables,
  user: User,
  { organization_id }: Pick<Domain, 'organization_id'>,
  trigger: Json,
  from: From,
): Promise<boolean> {
  if (await tables.memberships.first({ user_id: user.id, organization_id })) return false
  const membership = await insertMembership(context, tables, user, organization_id, lowestLevel)
  const project = await tables.projects.first({ organization_id })
  if (user.current_organization_id === null)
    await tables.users.update({ id: user.id }, { current_organization_id: organization_id, current_project_id: project?.id ?? null })
  await log(context, tables, {
    by: user,
    organization_id,
    scope: 'OrganizationMembership',
    item_id: membership.id,
    activity: 'joined',
    name: user.email,
    trigger,
    from,
  })
  return true
}
