import type { AccountStore, NoticeDelivery, ProjectRecord } from '../accounts/records.ts'
import { sameEmail } from '../accounts/users/users.ts'
import type { NotificationParts } from './parts.ts'

// Who may get the numbers of a project by mail. It is asked when a subscription is saved, and again when a mail is sent: rights end at once.

type Reading = Pick<AccountStore['read'], 'users' | 'memberships'>

/** Whether the address is that of an active member who can read the project. */
export async function isReader(
  { mayRead }: Pick<NotificationParts, 'mayRead'>,
  tables: Reading,
  project: ProjectRecord,
  address: string,
): Promise<boolean> {
  // Users of the host application, too: only their address finds nobody who could sign in.
  const ids = (await tables.users.find({ is_active: true })).filter(({ email }) => sameEmail(email, address)).map(({ id }) => id)
  if (ids.length === 0) return false
  for (const one of await tables.memberships.find({ organization_id: project.organization_id, user_id: ids }))
    if (await mayRead(project, one)) return true
  return false
}

const isDeactivated = async ({ users }: Reading, address: string): Promise<boolean> => {
  const known = (await users.find({})).filter(({ email }) => sameEmail(email, address))
  return known.length > 0 && known.every(({ is_active }) => !is_active)
}

/** Why an address gets no mail of an alert or a subscription; null: it does. */
export async function receiverRefusal(
  parts: Pick<NotificationParts, 'context' | 'mayRead'>,
  project: ProjectRecord,
  { alert_id, subscription_id, target }: Pick<NoticeDelivery, 'alert_id' | 'subscription_id' | 'target'>,
): Promise<string | null> {
  const { store, settings } = parts.context
  // A subscription sends to anybody whom its author names, unless the server has customers.
  if (alert_id !== null || (subscription_id !== null && settings().isHosted))
    return (await isReader(parts, store.read, project, target)) ? null : notReader(target)
  return subscription_id !== null && (await isDeactivated(store.read, target)) ? `The account of ${target} is deactivated.` : null
}

export const notReader = (address: string): string => `${address} is not the address of a member who can read the project.`
