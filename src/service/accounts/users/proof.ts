import { type AccountContext, log } from '../context.ts'
import { type AccountTables, level, type User } from '../records.ts'
import { removeFactor } from './remove-factor.ts'
import { endSessions } from './sessions.ts'

// An address is proven when its user opened a link that was mailed to it, or when the operator vouches for it. An account can exist before: the person who accepts an
// invitation that somebody passed on chooses its password. What such an account has is not its later owner's.

/** Columns of a user whose address is proven. */
export const provenAddress = { is_email_verified: true, unproven_since: null } as const
export const unprovenAddress = (now: Date) => ({ is_email_verified: false, unproven_since: now }) as const

export const isProven = ({ is_email_verified, unproven_since }: Pick<User, 'is_email_verified' | 'unproven_since'>): boolean =>
  is_email_verified === true && unproven_since === null

/** What a first proof ends. Accounts from before there were proofs keep their memberships: nobody knows who used them. */
export interface Unproven {
  readonly sessions: number
  readonly keys: number
  readonly invitations: number
  readonly second_factors: number
  readonly organizations: readonly { readonly name: string; readonly level: string }[]
}
const nothing: Unproven = { sessions: 0, keys: 0, invitations: 0, second_factors: 0, organizations: [] }

const losesMemberships = ({ unproven_since }: User): boolean => unproven_since !== null
const levelName = (value: number): string => Object.entries(level).find(([, at]) => at === value)?.[0] ?? String(value)

export const unprovenOf = async (tables: AccountContext['store']['read'], user: User): Promise<Unproven> => {
  if (isProven(user)) return nothing
  const memberships = losesMemberships(user) ? await tables.memberships.find({ user_id: user.id }) : []
  const organizations = await tables.organizations.find({ id: memberships.map((one) => one.organization_id) })
  return {
    sessions: await tables.sessions.count({ user_id: user.id }),
    keys: await tables.personal_keys.count({ user_id: user.id }),
    invitations: await tables.invites.count({ created_by_id: user.id }),
    second_factors: user.has_second_factor ? 1 : 0,
    organizations: memberships.map((one) => ({
      name: organizations.find(({ id }) => id === one.organization_id)?.name ?? one.organization_id,
      level: levelName(one.level),
    })),
  }
}

/**
 * Notes that an address is proven by somebody who need not be the one who used the account until now: the holder of a link for a new password. The first time, everything ends that the
 * account had before: sessions, keys, memberships, and the invitations that it made. `keeps`: the operator knows that it was the same person.
 */
export async function proveAddress(context: AccountContext, tables: AccountTables, user: User, keeps = false): Promise<void> {
  if (isProven(user)) return
  await tables.users.update({ id: user.id }, provenAddress)
  const ended = keeps ? nothing : await endUnproven(tables, user)
  await log(context, tables, {
    by: user,
    organization_id: user.current_organization_id,
    scope: 'User',
    item_id: user.id,
    activity: 'address_proven',
    name: user.email,
    changes: Object.entries(ended).flatMap(([field, before]) => {
      const count = typeof before === 'number' ? before : before.length
      return count === 0 ? [] : [{ type: 'User', action: 'deleted', field, before: count, after: null } as const]
    }),
  })
}

/** An identity provider proves the address. The first time the password of the account ends, too, unless its user is present. */
export async function proveByProvider(context: AccountContext, tables: AccountTables, user: User, isPresent: boolean): Promise<void> {
  if (isProven(user)) return
  await proveAddress(context, tables, user, isPresent)
  if (!isPresent) await tables.users.update({ id: user.id }, { password_hash: null })
}

async function endUnproven(tables: AccountTables, user: User): Promise<Unproven> {
  const ended = await unprovenOf(tables, user)
  const of = { user_id: user.id }
  await endSessions(tables, user, null)
  await removeFactor(tables, user)
  await tables.personal_keys.remove(of)
  await tables.password_links.remove(of)
  await tables.email_links.remove(of)
  await tables.invites.remove({ created_by_id: user.id })
  if (!losesMemberships(user)) return ended
  await tables.project_memberships.remove(of)
  await tables.role_memberships.remove(of)
  await tables.memberships.remove(of)
  await tables.users.update({ id: user.id }, { current_organization_id: null, current_project_id: null })
  return ended
}
