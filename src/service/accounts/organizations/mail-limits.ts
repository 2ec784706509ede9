import { otherLimits } from '../../../limits/limits.ts'
import type { AccountContext } from '../context.ts'
import { level } from '../records.ts'
import { isProven } from '../users/proof.ts'

// Mails that members cause: invitations, subscriptions, alerts. An organization has so many a day, and until the address of one of its owners is
// proven much fewer, without words of the sender's choice: an account that costs nothing is no relay.

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

/** How many of so many mails the organization may still send today; they count as sent, also after a restart. */
export async function takeMails(context: AccountContext, organizationId: string, wanted: number): Promise<number> {
  const { number: most } = (await hasProvenOwner(context, organizationId)) ? otherLimits.mailsPerDay : otherLimits.unprovenMailsPerDay
  const day = context.clock().toISOString().slice(0, 10)
  return context.store.write(async ({ mail_counts, organizations }) => {
    const known = await mail_counts.first({ organization_id: organizationId })
    const before = known?.day === day ? known.mails : 0
    const taken = Math.max(0, Math.min(wanted, most - before))
    if (taken === 0) return 0
    const row = { organization_id: organizationId, day, mails: before + taken }
    if (known) await mail_counts.update({ organization_id: organizationId }, row)
    else if (await organizations.first({ id: organizationId })) await mail_counts.insert(row)
    return taken
  })
}
