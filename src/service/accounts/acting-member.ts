import type { AccountContext } from './context.ts'
import type { AccountTables, Membership, User } from './records.ts'
import { levelTooLow, notAllowed } from './refusals.ts'

/** A member who changes something of an organization. */
export interface ActingMember {
  readonly user: User
  readonly membership: Membership
}

/** The current membership: since the request was admitted it may have been removed, or lowered. */
const currentMembership = async (tables: AccountTables, { user, membership }: ActingMember): Promise<Membership> => {
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
