import { type AccountContext, log } from '../context.ts'
import type { AccountTables, User } from '../records.ts'
import { notFound } from '../refusals.ts'
import { endSessions } from './sessions.ts'
import { findUserByEmail } from './users.ts'

// The operator lets a user in no longer, and in again; so does the identity provider of a domain, for users without another organization (`scim/users.ts`). Nothing of
// what the user has made is removed.

/** Of a user who is deactivated. */
export interface Ended {
  readonly user: User
  readonly sessions: number
  readonly keys: number
}

const mustFindUser = async (tables: AccountTables, address: string): Promise<User> => {
  const user = await findUserByEmail(tables, address)
  if (!user) throw notFound(`There is no user ${address}. \`waymark users list\` shows all users.`)
  return user
}

/** Ends all that lets somebody in without a new login: sessions, keys, and links that were mailed. */
export async function endAccess(tables: AccountTables, user: User): Promise<Omit<Ended, 'user'>> {
  await tables.password_links.remove({ user_id: user.id })
  await tables.email_links.remove({ user_id: user.id })
  return { sessions: await endSessions(tables, user, null), keys: await tables.personal_keys.remove({ user_id: user.id }) }
}

/** `deactivatedBy`: the domain whose identity provider does it; null: the operator. */
export async function setActive(
  tables: AccountTables,
  { id }: User,
  is_active: boolean,
  deactivatedBy: string | null = null,
): Promise<void> {
  await tables.users.update({ id }, { is_active, deactivated_by: is_active ? null : deactivatedBy })
}

export const createActivation = (context: AccountContext) => {
  const note = async (tables: AccountTables, user: User, isActive: boolean) => {
    const organizations = (await tables.memberships.find({ user_id: user.id })).map((one) => one.organization_id)
    for (const organization_id of organizations.length > 0 ? organizations : [null])
      await log(context, tables, {
        by: null,
        organization_id,
        scope: 'User',
        item_id: user.id,
        activity: isActive ? 'activated' : 'deactivated',
        name: user.email,
        changes: [{ type: 'User', action: 'changed', field: 'is_active', before: !isActive, after: isActive }],
      })
  }

  return {
    /** Sessions and keys end at once, and do not come back with the user. */
    deactivate: (address: string): Promise<Ended> =>
      context.store.write(async (tables) => {
        const user = await mustFindUser(tables, address)
        const ended = await endAccess(tables, user)
        // From now on the operator's word counts, also for a user whom an identity provider has deactivated.
        await setActive(tables, user, false)
        if (user.is_active) await note(tables, user, false)
        return { user: { ...user, is_active: false }, ...ended }
      }),

    activate: (address: string): Promise<User> =>
      context.store.write(async (tables) => {
        const user = await mustFindUser(tables, address)
        if (!user.is_active) {
          await setActive(tables, user, true)
          await note(tables, user, true)
        }
        return { ...user, is_active: true }
      }),
  }
}
