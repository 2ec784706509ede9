import type { AccountStore } from '../records.ts'

// Who has been given access to a private project: users by name, and the members of roles.

/** Tables that can be read in a transaction, too. */
export type AccessTables = Pick<AccountStore['read'], 'project_memberships' | 'project_roles' | 'role_memberships'>

/** The highest level that a user has been given in the project; null: none. It counts for members of the organization only. */
export async function givenLevel(tables: AccessTables, project_id: number, user_id: number): Promise<number | null> {
  const own = await tables.project_memberships.first({ user_id, project_id })
  const open = await tables.project_roles.find({ project_id })
  if (open.length === 0) return own?.level ?? null
  const roles = new Set((await tables.role_memberships.find({ user_id })).map(({ role_id }) => role_id))
  const levels = open.filter(({ role_id }) => roles.has(role_id)).map((one) => one.level)
  if (own) levels.push(own.level)
  return levels.length > 0 ? Math.max(...levels) : null
}

/** The projects in which a user has been given a level. */
export async function projectsGiven(tables: AccessTables, user_id: number): Promise<ReadonlySet<number>> {
  const roles = (await tables.role_memberships.find({ user_id })).map(({ role_id }) => role_id)
  const byRole = roles.length > 0 ? await tables.project_roles.find({ role_id: roles }) : []
  const byName = await tables.project_memberships.find({ user_id })
  return new Set([...byName, ...byRole].map(({ project_id }) => project_id))
}
