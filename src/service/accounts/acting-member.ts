import type { AccountContext } from './context.ts'
import { type AccountTables, level, type Membership, type User } from './records.ts'
import { levelTooLow, notAllowed } from './refusals.ts'

/** A member who changes something of an organization. */
export interface ActingMember {
  readonly user: User
  readonly membership: Membership
}

/** Made by this process, not stored: what counts is the object itself. */
const ofOperators = new WeakSet<Membership>()

/** The application that has opened the directory is an owner of every organization. Its changes are noted as those of `user`. */
export function operatorMembership(user: User, organization_id: string, now: Date): Membership {
  const made: Membership = { id: 'operator', user_id: user.id, organization_id, level: level.owner, joined_at: now, updated_at: now }
  ofOperators.add(made)
  return made
}

/** The current membership: since the request was admitted it may have been removed, or lowered. */
const currentMembership = async (tables: AccountTables, { user, membership }: ActingMember): Promise<Membership> => {
  if (ofOperators.has(membership)) return membership
  const [person, own] = [await tables.users.first({ id: user.id }), await tables.memberships.first({ id: membership.id })]
  if (!person?.is_active || !own) throw notAllowed()
  if (own.level < membership.level) throw levelTooLow()
  return own
}

/** A write that a membership allows; the membership is checked again when the write runs. */
export const writeAs = <T>(
  { store }: AccountContext,
  by: ActingMember,
  work: (tables: AccountTables, own: Membership) => Promise<T>,
): Promise<T> => store.write(async (tables) => work(tables, await currentMembership(tables, by)))
