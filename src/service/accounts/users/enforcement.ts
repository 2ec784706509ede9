import type { AccountContext } from '../context.ts'
import type { Organization, User } from '../records.ts'
import { enforcingDomain } from '../single-sign-on/enforcing-domain.ts'
import { isHostUser } from './users.ts'

// `enforce_2fa` of an organization: members without a second factor get nothing of it, by session or by key, until they have one.

type Reading = Pick<AccountContext['store']['read'], 'memberships' | 'organizations'>

/** The organizations of a user that require a second factor. */
export async function requiringOrganizations(tables: Reading, user: User): Promise<readonly Organization[]> {
  const memberships = await tables.memberships.find({ user_id: user.id })
  const organizations = await tables.organizations.find({ id: memberships.map((one) => one.organization_id) })
  return organizations.filter(({ enforce_2fa }) => enforce_2fa === true)
}

/** What a user without a second factor does not get. */
export interface Held {
  readonly organizations: readonly Organization[]
  /** They are all that the user belongs to. */
  readonly isAll: boolean
}
export const nothingHeld: Held = { organizations: [], isAll: false }

/**
 * The application that signs a user in asks for what it wants: single sign-on counts as a second factor. The provider that a domain requires counts for the organization that
 * owns the domain.
 */
export async function heldFrom(context: Pick<AccountContext, 'settings' | 'store'>, user: User): Promise<Held> {
  if (user.has_second_factor || isHostUser(user)) return nothingHeld
  const tables = context.store.read
  const requiring = await requiringOrganizations(tables, user)
  if (requiring.length === 0) return nothingHeld
  const domain = await enforcingDomain(context, tables, user.email)
  const organizations = requiring.filter(({ id }) => id !== domain?.organization_id)
  if (organizations.length === 0) return nothingHeld
  return { organizations, isAll: organizations.length === (await tables.memberships.count({ user_id: user.id })) }
}
