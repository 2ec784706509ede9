import { otherLimits } from '../limits/limits.ts'
import type { AccountContext } from './context.ts'
import { isProven } from './proof.ts'
import { level } from './records.ts'

// Mails that members cause: invitations, subscriptions, alerts. An organization has so many a day, and until the address of one of its owners is
// proven much fewer, without words of the sender's choice: an account that costs nothing is no relay.

interface Sent {
  day: string
  count: number
}
const sentBy = new WeakMap<object, Map<string, Sent>>()
const mostOrganizations = 50_000

/** Whether an owner proved their address by mail, or the operator made the account. A server that is not hosted has no strangers. */
export const hasProvenOwner = async ({ store, settings }: AccountContext, organizationId: string): Promise<boolean> => {
  if (!settings().isHosted) return true
  const members = await store.read.memberships.find({ organization_id: organizationId })
  const withRights = members.filter((one) => one.level === level.owner)
  // An organization without an owner was created by the operator.
  const owners = withRights.length > 0 ? withRights : members
  const users = await store.read.users.find({ id: owners.map(({ user_id }) => user_id) })
  return users.some((user) => user.is_active && isProven(user))
}

/** How many of so many mails the organization may still send today; they count as sent. */
export async function takeMails(context: AccountContext, organizationId: string, wanted: number): Promise<number> {
  const { number: most } = (await hasProvenOwner(context, organizationId)) ? otherLimits.mailsPerDay : otherLimits.unprovenMailsPerDay
  const day = context.clock().toISOString().slice(0, 10)
  const all = sentBy.get(context.store) ?? new Map<string, Sent>()
  sentBy.set(context.store, all)
  if (all.size >= mostOrganizations) for (const [id, sent] of all) if (sent.day !== day) all.delete(id)
  const known = all.get(organizationId)
  const before = known?.day === day ? known.count : 0
  const taken = Math.max(0, Math.min(wanted, most - before))
  all.set(organizationId, { day, count: before + taken })
  return taken
}
